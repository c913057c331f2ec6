// One request being served: what a handler gets. Lives in the session's frame.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smg/base/clock.hpp"
#include "smg/base/connection.hpp"
#include "smg/protocol/error_body.hpp"
#include "smg/protocol/http_head.hpp"
#include "smg/worker/worker.hpp"

namespace smg::proxy {

struct Call {
  explicit Call(const protocol::RequestHead& request_head) : head(request_head) {}

  const protocol::RequestHead& head;
  std::string_view body;        // complete; without transfer coding
  std::string_view request_id;  // for both sides
  std::string_view path_param;  // what matched {id} in the route, "" without one
  std::size_t route = 0;        // index in the route table: the `path` label
  std::shared_ptr<Connection> client;
  TimePoint started{};

  // Set by whoever answers.
  bool keep_alive = true;  // in: whether the client allows it; false: close after this answer
  int status = 0;          // 0: no byte of an answer has been sent
  std::optional<protocol::ErrorCode> error;  // of an answer that the gateway made
  TimePoint head_sent{};
  std::shared_ptr<const worker::Worker> worker;  // whose answer it is; null: the gateway's own
  bool broken = false;  // the answer was cut: the connection must not be used again
};

struct Response {
  int status = 200;
  std::string_view content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

// Sends a whole answer (to HEAD: its head). How long a client may take nothing: kWriteSilence.
awaitable<void> respond(Call& call, Response response);

struct ErrorReply {
  protocol::ErrorCode code;
  std::string message;              // for the client: no address, no secret
  std::string_view param = {};      // static storage
  std::uint32_t retry_after_s = 0;  // 0: no Retry-After
  std::string allow = {};           // 405: the Allow header
};
// In the shape of the API that the path belongs to, with x-smg-error-code.
awaitable<void> respond_error(Call& call, ErrorReply error);

// A streamed answer (chunked, or until close for HTTP/1.0): begin, write..., end.
awaitable<bool> begin_stream(Call& call, int status, std::string_view content_type);
awaitable<bool> write_stream(Call& call, std::string_view bytes);
awaitable<bool> end_stream(Call& call);

inline constexpr std::chrono::seconds kWriteSilence{300};

}  // namespace smg::proxy
