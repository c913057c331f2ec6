// A TCP connection of one thread: non-blocking reads and gathering writes, readiness awaited only
// when needed, one coarse deadline, and notice of the peer's leaving while nobody reads.
//
// At most one coroutine waits for reading and one for writing. close() may be called at any time
// from the same thread: whoever waits resumes with an error. Held by shared_ptr, since a pending
// readiness wait keeps it alive.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "smg/base/asio.hpp"
#include "smg/base/byte_buffer.hpp"
#include "smg/base/deadlines.hpp"
#include "smg/base/error.hpp"
#include "smg/base/event.hpp"

namespace smg {

class Connection final : public std::enable_shared_from_this<Connection>, private Deadline {
 public:
  Connection(tcp::socket socket, Deadlines& deadlines);

  enum class Read : std::uint8_t { data, would_block, end, error };
  // Reads what is there, at most `max` bytes, to the end of `into`. Never waits.
  Read read_some(ByteBuffer& into, std::size_t max);

  // Waits until read_some has something to say. The deadline counts from now; zero: none.
  // Errc::timeout, or Errc::canceled after close().
  awaitable<Result<>> readable(std::chrono::milliseconds timeout);

  // Writes all of it; Errc::timeout when the peer takes nothing for `silence`.
  awaitable<Result<>> write(std::span<const asio::const_buffer> pieces,
                            std::chrono::milliseconds silence);

  // From now until the next readable(): when the peer ends or resets the connection and has sent
  // nothing more, calls `on_gone` once. `on_gone` may close connections.
  void watch(std::function<void()> on_gone);
  void unwatch() { on_gone_ = nullptr; }
  // Whether the peer has been seen to leave.
  bool gone() const { return gone_; }
  // Open, with nothing to read and the peer still there, as far as has been seen.
  bool quiet() const { return socket_.is_open() && !ready_ && !gone_; }

  void close();
  // Ends with a reset, so that the peer cannot take what it got for a complete message.
  void abort();
  bool is_open() const { return socket_.is_open(); }
  tcp::socket& socket() { return socket_; }
  Deadlines& deadlines() { return deadlines_; }

 private:
  void arm();
  void on_ready(const boost::system::error_code& ec);
  void check_gone();
  void on_deadline() override;
  awaitable<Result<>> writable(std::chrono::milliseconds silence);

  tcp::socket socket_;
  Deadlines& deadlines_;
  Event ready_event_;
  std::function<void()> on_gone_;
  bool armed_ = false;    // a readiness wait is pending
  bool ready_ = false;    // readiness has been seen and not used up by read_some
  bool waiting_ = false;  // a coroutine is in readable() or writable()
  bool timed_out_ = false;
  bool gone_ = false;
};

}  // namespace smg
