#include "smg/base/connection.hpp"

#include <gtest/gtest.h>

#include <array>
#include <boost/asio/steady_timer.hpp>

#include "support/loopback.hpp"

namespace smg {
namespace {

using std::chrono::milliseconds;

// A Connection and the raw socket at its other end.
struct Pair {
  explicit Pair(test::Loop& loop) : far(loop.context) {
    test::Peer peer(loop);
    tcp::socket near(loop.context);
    loop.await(
        [](tcp::socket& socket, test::Peer& listener, tcp::socket& accepted) -> awaitable<void> {
          boost::system::error_code ec;
          socket.connect({asio::ip::address_v4::loopback(), listener.port()}, ec);
          accepted = co_await listener.accept();
        }(near, peer, far));
    connection = std::make_shared<Connection>(std::move(near), loop.deadlines);
  }
  std::shared_ptr<Connection> connection;
  tcp::socket far;
};

awaitable<Errc> wait_readable(std::shared_ptr<Connection> connection, milliseconds timeout) {
  const Result<> ready = co_await connection->readable(timeout);
  co_return ready ? Errc{} : ready.error().code;
}

TEST(Connection, ReadsWhatThePeerSentAndThenItsEnd) {
  test::Loop loop;
  Pair pair(loop);
  ByteBuffer buffer;
  EXPECT_EQ(pair.connection->read_some(buffer, 100), Connection::Read::would_block);
  loop.await(test::send(pair.far, "hello"));
  ASSERT_TRUE(loop.await(pair.connection->readable(milliseconds(5000))));
  buffer.prepare(100);
  EXPECT_EQ(pair.connection->read_some(buffer, 100), Connection::Read::data);
  EXPECT_EQ(buffer.view(), "hello");
  pair.far.close();
  ASSERT_TRUE(loop.await(pair.connection->readable(milliseconds(5000))));
  EXPECT_EQ(pair.connection->read_some(buffer, 100), Connection::Read::end);
  EXPECT_TRUE(pair.connection->gone());
}

TEST(Connection, NoticesDataAndEndThatCameTogether) {
  test::Loop loop;
  Pair pair(loop);
  loop.await(test::send(pair.far, "bye"));
  pair.far.close();
  ByteBuffer buffer;
  ASSERT_TRUE(loop.await(pair.connection->readable(milliseconds(5000))));
  buffer.prepare(100);
  EXPECT_EQ(pair.connection->read_some(buffer, 100), Connection::Read::data);
  ASSERT_TRUE(loop.await(pair.connection->readable(milliseconds(5000))));
  EXPECT_EQ(pair.connection->read_some(buffer, 100), Connection::Read::end);
}

TEST(Connection, WaitingForASilentPeerTimesOut) {
  test::Loop loop;
  Pair pair(loop);
  EXPECT_EQ(loop.await(wait_readable(pair.connection, milliseconds(150))), Errc::timeout);
  EXPECT_TRUE(pair.connection->is_open());
}

TEST(Connection, ClosingResumesWhoeverWaits) {
  test::Loop loop;
  Pair pair(loop);
  asio::post(loop.context, [&] { pair.connection->close(); });
  EXPECT_EQ(loop.await(wait_readable(pair.connection, milliseconds(10'000))), Errc::canceled);
}

TEST(Connection, AWatchTellsOfThePeersLeaving) {
  test::Loop loop;
  Pair pair(loop);
  bool gone = false;
  pair.connection->watch([&] { gone = true; });
  pair.far.close();
  const auto deadline = Clock::now() + test::kPatience;
  loop.context.restart();
  while (!gone && loop.context.run_one_until(deadline) > 0) {
  }
  EXPECT_TRUE(gone);
  EXPECT_TRUE(pair.connection->gone());
}

TEST(Connection, AWatchLeavesPipelinedBytesForTheNextRead) {
  test::Loop loop;
  Pair pair(loop);
  bool gone = false;
  pair.connection->watch([&] { gone = true; });
  loop.await(test::send(pair.far, "next"));
  ASSERT_TRUE(loop.await(pair.connection->readable(milliseconds(5000))));
  ByteBuffer buffer;
  buffer.prepare(100);
  EXPECT_EQ(pair.connection->read_some(buffer, 100), Connection::Read::data);
  EXPECT_EQ(buffer.view(), "next");
  EXPECT_FALSE(gone);
}

awaitable<std::size_t> write_and_read(std::shared_ptr<Connection> connection, tcp::socket& far,
                                      const std::string& body) {
  // More than the socket buffers hold: the writer must wait for the reader.
  asio::co_spawn(
      connection->socket().get_executor(),
      [](std::shared_ptr<Connection> writer, const std::string& text) -> awaitable<void> {
        const std::array<asio::const_buffer, 3> pieces{asio::buffer("head"), asio::buffer(text),
                                                       asio::buffer("tail")};
        const Result<> sent = co_await writer->write(pieces, milliseconds(10'000));
        EXPECT_TRUE(sent);
        writer->close();
      }(connection, body),
      [](std::exception_ptr) {});
  const std::string text = co_await test::read_until(far, "\xFF never comes");
  EXPECT_EQ(text.substr(0, 5), std::string("head\0", 5));
  EXPECT_EQ(text.substr(5, body.size()), body);
  co_return text.size();
}

TEST(Connection, WritesAllPiecesToASlowReader) {
  test::Loop loop;
  Pair pair(loop);
  const std::string body(20'000'000, 'x');
  EXPECT_EQ(loop.await(write_and_read(pair.connection, pair.far, body)), body.size() + 10);
}

awaitable<Errc> write_to_nobody(std::shared_ptr<Connection> connection, const std::string& body) {
  const std::array<asio::const_buffer, 1> pieces{asio::buffer(body)};
  const Result<> sent = co_await connection->write(pieces, milliseconds(150));
  co_return sent ? Errc{} : sent.error().code;
}

TEST(Connection, WritingToAPeerThatTakesNothingTimesOut) {
  test::Loop loop;
  Pair pair(loop);
  const std::string body(50'000'000, 'x');
  EXPECT_EQ(loop.await(write_to_nobody(pair.connection, body)), Errc::timeout);
}

}  // namespace
}  // namespace smg
