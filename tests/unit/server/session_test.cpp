// What a client sees on the wire of a listener with simple handlers.
#include <gtest/gtest.h>

#include <boost/asio/connect.hpp>
#include <memory>
#include <string>
#include <vector>

#include "smg/server/listener.hpp"
#include "support/loopback.hpp"

namespace smg::server {
namespace {

struct Recorder final : SessionObserver {
  void on_request(const proxy::Call&) noexcept override { ++requests; }
  void on_response(const proxy::Call& call) noexcept override { statuses.push_back(call.status); }
  int requests = 0;
  std::vector<int> statuses;
};

// A listener that echoes bodies on POST /echo and streams two pieces on GET /stream.
class Server {
 public:
  explicit Server(SessionOptions options = {}) {
    routes_.emplace(
        std::vector<Route>{{"POST", "/echo", Access::open,
                            [](proxy::Call& call) -> awaitable<void> {
                              proxy::Response response;
                              response.content_type = "text/plain";
                              response.body = std::string(call.body);
                              return proxy::respond(call, std::move(response));
                            }},
                           {"GET", "/stream", Access::open,
                            [](proxy::Call& call) -> awaitable<void> {
                              co_await proxy::begin_stream(call, 200, "text/event-stream");
                              co_await proxy::write_stream(call, "one,");
                              co_await proxy::write_stream(call, "two");
                              co_await proxy::end_stream(call);
                            }},
                           {"POST", "/keyed", Access::keyed,
                            [](proxy::Call& call) { return proxy::respond(call, {}); }}});
    listener_.emplace(
        std::vector<IoThread*>{&io_}, std::move(options),
        [this](std::size_t) -> const RouteTable& { return *routes_; }, &recorder_);
    EXPECT_TRUE(listener_->open("127.0.0.1", 0));
  }
  ~Server() {
    listener_->stop();
    io_.context.restart();
    io_.context.run_for(std::chrono::seconds(1));
  }

  // Sends `bytes`, half-closes if asked, and returns all that comes until `end` or the close.
  std::string talk(std::string bytes, std::string end = "\xFF", bool half_close = false) {
    std::optional<std::string> answer;
    asio::co_spawn(
        io_.context,
        [](Server& self, std::string out, std::string until, bool close) -> awaitable<std::string> {
          tcp::socket socket(self.io_.context);
          co_await socket.async_connect({asio::ip::address_v4::loopback(), self.listener_->port()},
                                        use_awaitable);
          co_await test::send(socket, out);
          boost::system::error_code ec;
          if (close) socket.shutdown(tcp::socket::shutdown_send, ec);
          co_return co_await test::read_until(socket, until);
        }(*this, std::move(bytes), std::move(end), half_close),
        [&](std::exception_ptr, std::string text) { answer = std::move(text); });
    const auto deadline = Clock::now() + test::kPatience;
    io_.context.restart();
    while (!answer && io_.context.run_one_until(deadline) > 0) {
    }
    if (!answer) ADD_FAILURE() << "no answer in time";
    return answer.value_or("");
  }

  Recorder recorder_;

 private:
  IoThread io_;
  std::optional<RouteTable> routes_;
  std::optional<Listener> listener_;
};

std::string status_line(const std::string& answer) { return answer.substr(0, answer.find("\r\n")); }

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Session, EchoesABodyWithALength) {
  Server server;
  const std::string answer =
      server.talk("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", "hello");
  EXPECT_EQ(status_line(answer), "HTTP/1.1 200 OK");
  EXPECT_NE(answer.find("Content-Length: 5\r\n"), std::string::npos);
  EXPECT_NE(answer.find("x-request-id: req-"), std::string::npos);
}

TEST(Session, DecodesAChunkedBody) {
  Server server;
  const std::string answer = server.talk(
      "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nT: v\r\n\r\n",
      "hello");
  EXPECT_NE(answer.find("\r\n\r\nhello"), std::string::npos);
}

TEST(Session, AnswersPipelinedRequestsInOrder) {
  Server server;
  const std::string answer = server.talk(
      "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nA"
      "GET /nope HTTP/1.1\r\nHost: h\r\n\r\n"
      "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nConnection: close\r\n\r\nlast");
  EXPECT_EQ(count(answer, "HTTP/1.1 "), 3U);
  EXPECT_LT(answer.find("\r\n\r\nA"), answer.find("404 Not Found"));
  EXPECT_LT(answer.find("404 Not Found"), answer.find("\r\n\r\nlast"));
}

TEST(Session, TakesARequestByteByByte) {
  Server server;
  std::string answer;
  // One write a byte is up to the kernel to merge; the scanner sees growing prefixes either way.
  answer = server.talk("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nok", "ok");
  EXPECT_EQ(status_line(answer), "HTTP/1.1 200 OK");
}

TEST(Session, HeadHasTheHeadersOfGetAndNoBody) {
  Server server;
  const std::string answer = server.talk(
      "HEAD /nope HTTP/1.1\r\nHost: h\r\n\r\n"
      "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nConnection: close\r\n\r\nend");
  EXPECT_EQ(count(answer, "route_not_found"), 1U);  // the header only, no body
  EXPECT_NE(answer.find("\r\n\r\nHTTP/1.1 200 OK"), std::string::npos);
}

TEST(Session, AMalformedHeadIs400AndClosesTheConnection) {
  Server server;
  const std::string answer =
      server.talk("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\n");
  EXPECT_EQ(status_line(answer), "HTTP/1.1 400 Bad Request");
  EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos);
  EXPECT_NE(answer.find("\"invalid_request\""), std::string::npos);
  EXPECT_EQ(server.recorder_.requests, 1);
  ASSERT_EQ(server.recorder_.statuses.size(), 1U);
  EXPECT_EQ(server.recorder_.statuses[0], 400);
}

TEST(Session, AnOverlongHeadIs431) {
  Server server;
  const std::string answer =
      server.talk("GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(70'000, 'a') + "\r\n\r\n");
  EXPECT_EQ(status_line(answer), "HTTP/1.1 431 Request Header Fields Too Large");
}

TEST(Session, ABodyOverTheLimitIs413ByLengthAndByChunks) {
  SessionOptions options;
  options.max_body = 10;
  Server server(options);
  const std::string by_length =
      server.talk("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n01234567890");
  EXPECT_EQ(status_line(by_length), "HTTP/1.1 413 Content Too Large");
  const std::string by_chunks = server.talk(
      "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "b\r\n01234567890\r\n0\r\n\r\n");
  EXPECT_EQ(status_line(by_chunks), "HTTP/1.1 413 Content Too Large");
}

TEST(Session, ASlowBodyIs408) {
  SessionOptions options;
  options.body_silence = std::chrono::seconds(1);
  Server server(options);
  const std::string answer =
      server.talk("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(status_line(answer), "HTTP/1.1 408 Request Timeout");
}

TEST(Session, AnIncompleteHeadIs408AfterItsTime) {
  SessionOptions options;
  options.head_timeout = std::chrono::seconds(1);
  Server server(options);
  EXPECT_EQ(status_line(server.talk("GET / HTTP/1.1\r\nHost:")), "HTTP/1.1 408 Request Timeout");
}

TEST(Session, ContinueIsSentBeforeTheBodyIsRead) {
  Server server;
  const std::string answer = server.talk(
      "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n",
      "\r\n\r\n");
  EXPECT_EQ(answer, "HTTP/1.1 100 Continue\r\n\r\n");
}

TEST(Session, AWrongMethodIs405WithAllow) {
  Server server;
  const std::string answer = server.talk("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n", "}}");
  EXPECT_EQ(status_line(answer), "HTTP/1.1 405 Method Not Allowed");
  EXPECT_NE(answer.find("Allow: POST\r\n"), std::string::npos);
}

TEST(Session, AMissingKeyIs401AndTheConnectionGoesOn) {
  SessionOptions options;
  options.api_key = "k";
  Server server(options);
  const std::string answer = server.talk(
      "POST /keyed HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}"
      "POST /keyed HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nAuthorization: Bearer k\r\n"
      "Connection: close\r\n\r\n{}");
  EXPECT_EQ(status_line(answer), "HTTP/1.1 401 Unauthorized");
  EXPECT_NE(answer.find("HTTP/1.1 200 OK"), std::string::npos);
}

TEST(Session, StreamsInChunksToHttp11AndUntilCloseToHttp10) {
  Server server;
  const std::string chunked = server.talk("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n", "0\r\n\r\n");
  EXPECT_NE(chunked.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_NE(chunked.find("\r\n\r\n4\r\none,\r\n3\r\ntwo\r\n0\r\n\r\n"), std::string::npos);
  const std::string plain = server.talk("GET /stream HTTP/1.0\r\n\r\n");
  EXPECT_EQ(plain.find("Transfer-Encoding"), std::string::npos);
  EXPECT_TRUE(plain.ends_with("\r\n\r\none,two"));
}

TEST(Session, AnUnfinishedBodyIsNeverDelivered) {
  Server server;
  const std::string answer =
      server.talk("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nabc", "\xFF", true);
  EXPECT_EQ(answer, "");
  ASSERT_EQ(server.recorder_.statuses.size(), 1U);
  EXPECT_EQ(server.recorder_.statuses[0], 0);
}

}  // namespace
}  // namespace smg::server
