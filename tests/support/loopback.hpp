// Test helpers: run a coroutine to its end with a deadline, and a raw peer on loopback.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "smg/base/asio.hpp"
#include "smg/base/deadlines.hpp"

namespace smg::test {

inline constexpr std::chrono::seconds kPatience{20};

struct Loop {
  asio::io_context context{1};
  Deadlines deadlines{context};

  // Runs until the coroutine has ended; fails the test when it takes longer than kPatience.
  template <class T>
  T await(awaitable<T> work) {
    std::optional<T> result;
    asio::co_spawn(context, std::move(work), [&](std::exception_ptr error, T value) {
      EXPECT_FALSE(error);
      result.emplace(std::move(value));
    });
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    context.restart();
    while (!result && context.run_one_until(deadline) > 0) {
    }
    if (!result) ADD_FAILURE() << "did not end in time";
    return std::move(result).value();
  }
  void await(awaitable<void> work) {
    await([](awaitable<void> inner) -> awaitable<bool> {
      co_await std::move(inner);
      co_return true;
    }(std::move(work)));
  }
};

// A listening socket on a free loopback port.
class Peer {
 public:
  explicit Peer(Loop& loop)
      : acceptor_(loop.context, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {}

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port()); }
  awaitable<tcp::socket> accept() { return acceptor_.async_accept(use_awaitable); }

 private:
  tcp::acceptor acceptor_;
};

// Reads until `end` has come, at most until the peer closes. Returns all that came.
inline awaitable<std::string> read_until(tcp::socket& socket, std::string_view end) {
  std::string text;
  char buffer[4096];
  boost::system::error_code ec;
  std::size_t searched = 0;
  while (text.find(end, searched) == std::string::npos) {
    searched = text.size() < end.size() ? 0 : text.size() - end.size();
    const std::size_t n = co_await socket.async_read_some(asio::buffer(buffer),
                                                          asio::redirect_error(use_awaitable, ec));
    if (ec) break;
    text.append(buffer, n);
  }
  co_return text;
}

inline awaitable<void> send(tcp::socket& socket, std::string_view bytes) {
  boost::system::error_code ec;
  co_await asio::async_write(socket, asio::buffer(bytes.data(), bytes.size()),
                             asio::redirect_error(use_awaitable, ec));
}

inline void reset(tcp::socket& socket) {
  boost::system::error_code ec;
  socket.set_option(asio::socket_base::linger(true, 0), ec);
  socket.close(ec);
}

}  // namespace smg::test
