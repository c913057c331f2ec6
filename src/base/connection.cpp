#include "smg/base/connection.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/redirect_error.hpp>
#include <cerrno>
#include <utility>

namespace smg {
namespace {

Error stopped() { return {Errc::canceled, Side::gateway, Retry::never, "canceled"}; }

// More pieces than one system call takes are written in several.
constexpr std::size_t kMaxPieces = 8;

std::size_t fill(std::array<iovec, kMaxPieces>& out, std::span<const asio::const_buffer> pieces,
                 std::size_t skip) {
  std::size_t count = 0;
  for (const asio::const_buffer& piece : pieces) {
    if (skip >= piece.size()) {
      skip -= piece.size();
      continue;
    }
    if (count == kMaxPieces) break;
    const char* data = static_cast<const char*>(piece.data()) + skip;
    out[count++] = {const_cast<char*>(data), piece.size() - skip};
    skip = 0;
  }
  return count;
}

}  // namespace

Connection::Connection(tcp::socket socket, Deadlines& deadlines)
    : socket_(std::move(socket)), deadlines_(deadlines) {
  boost::system::error_code ignored;
  socket_.native_non_blocking(true, ignored);
  socket_.set_option(tcp::no_delay(true), ignored);
}

Connection::Read Connection::read_some(ByteBuffer& into, std::size_t max) {
  if (!socket_.is_open()) return Read::error;
  std::span<char> space = into.prepare(std::min<std::size_t>(max, 1));
  if (space.size() > max) space = space.first(max);
  for (;;) {
    const ssize_t n = ::recv(socket_.native_handle(), space.data(), space.size(), 0);
    if (n > 0) {
      into.commit(static_cast<std::size_t>(n));
      // A full buffer may have left something behind; anything less has emptied the socket.
      if (static_cast<std::size_t>(n) < space.size()) ready_ = false;
      return Read::data;
    }
    if (n == 0) {
      gone_ = true;
      return Read::end;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      ready_ = false;
      return Read::would_block;
    }
    gone_ = true;
    return Read::error;
  }
}

void Connection::arm() {
  if (armed_ || ready_ || !socket_.is_open()) return;
  armed_ = true;
  socket_.async_wait(
      tcp::socket::wait_read,
      [self = shared_from_this()](const boost::system::error_code& ec) { self->on_ready(ec); });
}

void Connection::on_ready(const boost::system::error_code& ec) {
  armed_ = false;
  if (!ec) ready_ = true;
  if (waiting_) {
    ready_event_.notify();
  } else if (on_gone_) {
    check_gone();
  }
}

void Connection::check_gone() {
  if (!socket_.is_open()) return;
  char byte;
  const ssize_t n = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (n > 0) return;  // a pipelined request: it is read when its turn comes
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    ready_ = false;
    arm();
    return;
  }
  gone_ = true;
  if (std::function<void()> on_gone = std::exchange(on_gone_, nullptr)) on_gone();
}

void Connection::watch(std::function<void()> on_gone) {
  on_gone_ = std::move(on_gone);
  if (ready_) {
    check_gone();
  } else {
    arm();
  }
}

awaitable<Result<>> Connection::readable(std::chrono::milliseconds timeout) {
  unwatch();
  auto self = shared_from_this();
  timed_out_ = false;
  if (timeout.count() > 0) deadlines_.arm(*this, timeout);
  while (socket_.is_open() && !ready_ && !timed_out_) {
    arm();
    waiting_ = true;
    co_await ready_event_.wait();
    waiting_ = false;
  }
  disarm();
  if (!socket_.is_open()) co_return stopped();
  if (!ready_ && timed_out_) {
    co_return Error{Errc::timeout, Side::gateway, Retry::never, "nothing came in time"};
  }
  co_return Result<>{};
}

void Connection::on_deadline() {
  timed_out_ = true;
  if (waiting_) ready_event_.notify();
}

awaitable<Result<>> Connection::write(std::span<const asio::const_buffer> pieces,
                                      std::chrono::milliseconds silence) {
  auto self = shared_from_this();
  std::size_t total = 0;
  for (const asio::const_buffer& piece : pieces) total += piece.size();
  std::size_t written = 0;
  std::array<iovec, kMaxPieces> vectors;
  while (written < total) {
    if (!socket_.is_open()) co_return stopped();
    msghdr message{};
    message.msg_iov = vectors.data();
    message.msg_iovlen = fill(vectors, pieces, written);
    const ssize_t n = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL);
    if (n >= 0) {
      written += static_cast<std::size_t>(n);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
      co_return Error{Errc::closed, Side::gateway, Retry::never, "write failed"};
    }
    Result<> ready = co_await writable(silence);
    if (!ready) co_return ready;
  }
  co_return Result<>{};
}

awaitable<Result<>> Connection::writable(std::chrono::milliseconds silence) {
  // A timer of its own: the connection's deadline may be counting for a reader.
  class Silence final : public Deadline {
   public:
    explicit Silence(Connection& connection) : connection_(connection) {}
    void on_deadline() override {
      fired = true;
      connection_.close();
    }
    bool fired = false;

   private:
    Connection& connection_;
  };
  Silence timer(*this);
  if (silence.count() > 0) deadlines_.arm(timer, silence);
  boost::system::error_code ec;
  co_await socket_.async_wait(tcp::socket::wait_write, asio::redirect_error(use_awaitable, ec));
  if (timer.fired) {
    co_return Error{Errc::timeout, Side::gateway, Retry::never, "the peer takes nothing"};
  }
  if (!socket_.is_open()) co_return stopped();
  if (ec) co_return Error{Errc::closed, Side::gateway, Retry::never, ec.message()};
  co_return Result<>{};
}

void Connection::close() {
  if (!socket_.is_open()) return;
  on_gone_ = nullptr;
  boost::system::error_code ignored;
  socket_.close(ignored);
  disarm();
  // Whoever waits has a readiness wait pending, which now completes with operation_aborted.
}

void Connection::abort() {
  if (!socket_.is_open()) return;
  boost::system::error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  close();
}

}  // namespace smg
