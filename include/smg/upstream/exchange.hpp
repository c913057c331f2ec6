// One request and its answer on one connection to a worker.
//
// Destroyed before the answer is complete, it closes the connection, which tells the engine to stop.
// Complete, it gives the connection back. One thread; abort() makes whatever waits return
// Errc::canceled.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "smg/base/byte_buffer.hpp"
#include "smg/protocol/chunked.hpp"
#include "smg/protocol/http_head.hpp"
#include "smg/upstream/connector.hpp"

namespace smg::upstream {

struct ExchangeTimeouts {
  std::chrono::milliseconds head{1'800'000};     // from the sent request to the response head
  std::chrono::milliseconds silence{1'800'000};  // between two pieces of the body
};

class Exchange {
 public:
  Exchange(Connector& connector, const Url& url, ExchangeTimeouts timeouts);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // Sends the request and reads the final response head (1xx are skipped). `head` and `body` must
  // stay valid until it returns. `allow_reuse` false: only a fresh connection will do.
  // Errors: retry is fresh_connection when a reused connection died before any answer byte.
  awaitable<Result<>> start(std::string_view head, std::string_view body, bool head_request,
                            bool allow_reuse);

  const protocol::ResponseHead& response() const { return response_; }

  // The next bytes of the body as they are on the wire (chunk framing included), whatever one read
  // brought; a view valid until the next call. Empty and complete() when the body has ended.
  // Errors: Errc::closed (ended early), bad_message (broken chunking), timeout, canceled.
  awaitable<Result<std::string_view>> next();
  // Whether the last byte of the answer has been returned by next().
  bool complete() const { return complete_; }

  void abort();

 private:
  awaitable<Result<>> read_head(bool head_request);
  Result<std::string_view> take(std::string_view available);
  void finish();

  Connector& connector_;
  const Url& url_;
  ExchangeTimeouts timeouts_;
  std::shared_ptr<Connection> connection_;
  std::shared_ptr<bool> canceled_;
  ByteBuffer input_;
  std::size_t returned_ = 0;  // bytes of input_ that the last next() returned
  protocol::ResponseHead response_;
  protocol::ChunkedDecoder chunked_;
  std::uint64_t remaining_ = 0;  // of a body with a length
  bool reused_ = false;
  bool complete_ = false;
  bool head_done_ = false;
};

}  // namespace smg::upstream
