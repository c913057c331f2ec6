#include "smg/upstream/exchange.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "smg/base/url.hpp"
#include "smg/upstream/fetch.hpp"
#include "support/loopback.hpp"

namespace smg::upstream {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kHead = "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n";

// A worker on loopback, a client side to it, and what came of one exchange.
struct Fixture {
  test::Loop loop;
  test::Peer peer{loop};
  Connector connector{loop.context, loop.deadlines, milliseconds(2000)};
  Url url = *parse_url(peer.url());
  std::shared_ptr<tcp::socket> kept;  // the worker's side of the last exchange

  struct Outcome {
    Result<> started{};
    int status = 0;
    std::string body;
    std::optional<Error> body_error;
    bool complete = false;
  };

  awaitable<Outcome> exchange(ExchangeTimeouts timeouts, bool allow_reuse = true) {
    Outcome outcome;
    Exchange exchange(connector, url, timeouts);
    Exchange::Request request;
    request.head = kHead;
    request.body = "{}";
    request.allow_reuse = allow_reuse;
    outcome.started = co_await exchange.start(request);
    if (!outcome.started) co_return outcome;
    outcome.status = exchange.response().status;
    while (!exchange.complete()) {
      Result<std::string_view> piece = co_await exchange.next();
      if (!piece) {
        outcome.body_error = piece.error();
        break;
      }
      outcome.body.append(*piece);
    }
    outcome.complete = exchange.complete();
    co_return outcome;
  }

  // Runs one exchange against a worker that reads the request, sends `answer` and then does
  // `after`.
  Outcome against(std::string answer, std::function<void(tcp::socket&)> after,
                  ExchangeTimeouts timeouts = {milliseconds(3000), milliseconds(3000)}) {
    kept = std::make_shared<tcp::socket>(loop.context);
    asio::co_spawn(
        loop.context,
        [](Fixture& self, std::shared_ptr<tcp::socket> socket, std::string bytes,
           std::function<void(tcp::socket&)> then) -> awaitable<void> {
          *socket = co_await self.peer.accept();
          co_await test::read_until(*socket, "{}");
          co_await test::send(*socket, bytes);
          if (then) then(*socket);
        }(*this, kept, std::move(answer), std::move(after)),
        [](std::exception_ptr) {});
    return loop.await(exchange(timeouts));
  }
};

TEST(Exchange, ReadsABodyWithALengthAndKeepsTheConnection) {
  Fixture f;
  const auto outcome = f.against("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", {});
  ASSERT_TRUE(outcome.started);
  EXPECT_EQ(outcome.body, "hello");
  EXPECT_TRUE(outcome.complete);
  EXPECT_NE(f.connector.take_idle(f.url), nullptr);
}

TEST(Exchange, ReturnsChunkedBytesAsTheyAreOnTheWire) {
  Fixture f;
  const std::string wire = "5\r\nhello\r\n0\r\n\r\n";
  const auto outcome =
      f.against("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + wire, {});
  EXPECT_EQ(outcome.body, wire);
  EXPECT_TRUE(outcome.complete);
  EXPECT_NE(f.connector.take_idle(f.url), nullptr);
}

TEST(Exchange, ABodyUntilCloseEndsWithTheConnection) {
  Fixture f;
  const auto outcome = f.against("HTTP/1.0 200 OK\r\n\r\nold", [](tcp::socket& s) { s.close(); });
  EXPECT_EQ(outcome.body, "old");
  EXPECT_TRUE(outcome.complete);
  EXPECT_EQ(f.connector.take_idle(f.url), nullptr);
}

TEST(Exchange, ABodyUntilCloseThatIsResetIsAnError) {
  Fixture f;
  const auto outcome = f.against("HTTP/1.0 200 OK\r\n\r\nold", test::reset);
  ASSERT_TRUE(outcome.body_error || !outcome.started);
  EXPECT_FALSE(outcome.complete);
}

TEST(Exchange, ABodyThatEndsEarlyIsAnError) {
  Fixture f;
  const auto outcome = f.against("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhel",
                                 [](tcp::socket& s) { s.close(); });
  ASSERT_TRUE(outcome.body_error);
  EXPECT_EQ(outcome.body_error->code, Errc::closed);
  EXPECT_EQ(outcome.body_error->side, Side::upstream);
}

TEST(Exchange, SkipsInterimAnswers) {
  Fixture f;
  const auto outcome = f.against(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
      "HTTP/1.1 204 No Content\r\n\r\n",
      {});
  ASSERT_TRUE(outcome.started);
  EXPECT_EQ(outcome.status, 204);
  EXPECT_TRUE(outcome.complete);
}

TEST(Exchange, GarbageIsABadMessage) {
  Fixture f;
  const auto outcome = f.against("SSH-2.0-OpenSSH_9.2\r\n\r\n", {});
  ASSERT_FALSE(outcome.started);
  EXPECT_EQ(outcome.started.error().code, Errc::bad_message);
}

TEST(Exchange, AConnectionLostBeforeAnAnswerMayBeRetried) {
  Fixture f;
  const auto outcome = f.against("", [](tcp::socket& s) { s.close(); });
  ASSERT_FALSE(outcome.started);
  EXPECT_EQ(outcome.started.error().code, Errc::closed);
  EXPECT_EQ(outcome.started.error().retry, Retry::always);
}

TEST(Exchange, ASilentWorkerTimesOutAndIsNotRetried) {
  Fixture f;
  const auto outcome = f.against("", {}, {milliseconds(150), milliseconds(150)});
  ASSERT_FALSE(outcome.started);
  EXPECT_EQ(outcome.started.error().code, Errc::timeout);
  EXPECT_EQ(outcome.started.error().retry, Retry::never);
}

TEST(Exchange, ARefusedConnectionIsTheWorkersFault) {
  Fixture f;
  Url nobody;
  {
    test::Peer closed(f.loop);
    nobody = *parse_url(closed.url());
  }
  f.url = nobody;
  const auto outcome = f.loop.await(f.exchange({}));
  ASSERT_FALSE(outcome.started);
  EXPECT_EQ(outcome.started.error().code, Errc::connect_failed);
  EXPECT_EQ(outcome.started.error().side, Side::upstream);
  EXPECT_EQ(outcome.started.error().retry, Retry::always);
}

TEST(Exchange, BytesBehindTheAnswerEndTheConnection) {
  Fixture f;
  const auto outcome =
      f.against("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n", {});
  EXPECT_EQ(outcome.body, "ok");
  EXPECT_TRUE(outcome.complete);
  EXPECT_EQ(f.connector.take_idle(f.url), nullptr);
}

TEST(Exchange, AReusedConnectionThatDiesAsksForAFreshOne) {
  Fixture f;
  // The worker answers once, and ends the connection when the second request comes.
  const auto first =
      f.against("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", [&f](tcp::socket& s) {
        asio::co_spawn(
            f.loop.context,
            [](tcp::socket& socket) -> awaitable<void> {
              co_await test::read_until(socket, "{}");
              test::reset(socket);
            }(s),
            [](std::exception_ptr) {});
      });
  ASSERT_TRUE(first.complete);
  const auto second = f.loop.await(f.exchange({milliseconds(3000), milliseconds(3000)}));
  ASSERT_FALSE(second.started);
  EXPECT_EQ(second.started.error().retry, Retry::fresh_connection);
}

TEST(Fetch, ReturnsTheDecodedBody) {
  Fixture f;
  asio::co_spawn(
      f.loop.context,
      [](Fixture& self) -> awaitable<void> {
        tcp::socket socket = co_await self.peer.accept();
        const std::string request = co_await test::read_until(socket, "\r\n\r\n");
        EXPECT_EQ(request.substr(0, 21), "GET /health HTTP/1.1\r");
        EXPECT_NE(request.find("Authorization: Bearer k\r\n"), std::string::npos);
        co_await test::send(socket,
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                            "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
      }(f),
      [](std::exception_ptr) {});
  FetchRequest request;
  request.url = f.url;
  request.target = "/health";
  request.headers.emplace_back("Authorization", "Bearer k");
  const Result<FetchResponse> response = f.loop.await(fetch(f.connector, request));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "abcde");
}

TEST(Fetch, AnAnswerThatDripsIsCutAtTheTimeout) {
  Fixture f;
  asio::co_spawn(
      f.loop.context,
      [](Fixture& self) -> awaitable<void> {
        tcp::socket socket = co_await self.peer.accept();
        co_await test::read_until(socket, "\r\n\r\n");
        co_await test::send(socket, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx");
        co_await test::read_until(socket, "never");
      }(f),
      [](std::exception_ptr) {});
  FetchRequest request;
  request.url = f.url;
  request.target = "/";
  request.timeout = milliseconds(200);
  const Result<FetchResponse> response = f.loop.await(fetch(f.connector, request));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Errc::timeout);
}

TEST(Fetch, AnAnswerOverTheLimitIsAnError) {
  Fixture f;
  asio::co_spawn(
      f.loop.context,
      [](Fixture& self) -> awaitable<void> {
        tcp::socket socket = co_await self.peer.accept();
        co_await test::read_until(socket, "\r\n\r\n");
        co_await test::send(
            socket, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + std::string(100, 'x'));
      }(f),
      [](std::exception_ptr) {});
  FetchRequest request;
  request.url = f.url;
  request.target = "/";
  request.max_body = 99;
  const Result<FetchResponse> response = f.loop.await(fetch(f.connector, request));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Errc::too_large);
}

}  // namespace
}  // namespace smg::upstream
