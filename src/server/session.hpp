// One client connection: reads requests one after another and has them answered.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "smg/base/byte_buffer.hpp"
#include "smg/base/connection.hpp"
#include "smg/server/listener.hpp"

namespace smg::server {

// What the sessions of a listener share. Outlives them.
struct SessionShared {
  SessionOptions options;
  SessionObserver* observer = nullptr;
  std::atomic<bool> draining{false};
  std::atomic<std::size_t> active{0};  // requests being served
};

class Session {
 public:
  Session(std::shared_ptr<Connection> connection, std::shared_ptr<SessionShared> shared,
          const RouteTable& routes);

  // Serves until the connection ends.
  awaitable<void> run();

  // From the same thread: ends it now if no request is being served.
  void close_if_idle();
  // Ends it whatever it does, as if the client had left.
  void cut();

 private:
  enum class Progress : std::uint8_t { ok, refused, lost };

  awaitable<Progress> read_head();
  awaitable<Progress> read_body(proxy::Call& call);
  awaitable<Progress> read_sized_body(proxy::Call& call);
  awaitable<Progress> read_chunked_body(proxy::Call& call);
  awaitable<bool> more(std::chrono::milliseconds timeout, bool& timed_out);
  awaitable<bool> serve_one(bool head_ok);
  awaitable<void> linger();
  Progress check(const RouteTable::Match& match);
  Progress refuse(protocol::ErrorCode code, std::string message);
  bool is_local() const;
  std::string_view choose_request_id();
  void finish(proxy::Call& call);

  std::shared_ptr<Connection> connection_;
  std::shared_ptr<SessionShared> shared_;
  const RouteTable& routes_;
  ByteBuffer input_;
  ByteBuffer decoded_;  // a chunked body without its chunks
  std::string head_bytes_;
  std::string generated_id_;
  protocol::RequestHead head_;
  std::size_t body_in_input_ = 0;  // bytes of input_ that are this request's body
  std::optional<proxy::ErrorReply> refusal_;
  bool busy_ = false;
};

}  // namespace smg::server
