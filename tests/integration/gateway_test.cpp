// The whole gateway in this process, with workers on other threads of it: what the sanitizers
// watch.
#include "smg/app/gateway.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "smg/server/listener.hpp"

namespace smg::app {
namespace {

constexpr std::chrono::seconds kPatience{60};

// A worker with one model that answers chats with its own number, on a thread of its own.
class Worker {
 public:
  explicit Worker(std::string name) : name_(std::move(name)) {
    routes_.emplace(std::vector<server::Route>{
        {"GET", "/health", server::Access::open,
         [](proxy::Call& call) { return proxy::respond(call, {}); }},
        {"GET", "/v1/models", server::Access::open,
         [](proxy::Call& call) {
           proxy::Response response;
           response.body = R"({"object":"list","data":[{"id":"m","owned_by":"vllm"}]})";
           return proxy::respond(call, std::move(response));
         }},
        {"POST", "/v1/chat/completions", server::Access::open, [this](proxy::Call& call) {
           ++chats;
           proxy::Response response;
           response.body = "{\"worker\":\"" + name_ + "\"}";
           return proxy::respond(call, std::move(response));
         }}});
    listener_.emplace(
        std::vector<server::IoThread*>{&io_}, server::SessionOptions{},
        [this](std::size_t) -> const server::RouteTable& { return *routes_; }, nullptr);
    EXPECT_TRUE(listener_->open("127.0.0.1", 0));
    port = listener_->port();
    thread_ = std::jthread([this] {
      const auto guard = asio::make_work_guard(io_.context);
      io_.context.run();
    });
  }
  ~Worker() { io_.context.stop(); }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port); }

  std::uint16_t port = 0;
  std::atomic<int> chats{0};

 private:
  std::string name_;
  server::IoThread io_;
  std::optional<server::RouteTable> routes_;
  std::optional<server::Listener> listener_;
  std::jthread thread_;
};

std::uint16_t free_port() {
  asio::io_context context;
  return tcp::acceptor(context, {asio::ip::address_v4::loopback(), 0}).local_endpoint().port();
}

// One request on a connection of its own; the whole answer, or "" if there was none.
std::string ask(std::uint16_t port, const std::string& request) {
  asio::io_context context;
  tcp::socket socket(context);
  boost::system::error_code ec;
  socket.connect({asio::ip::address_v4::loopback(), port}, ec);
  if (ec) return "";
  asio::write(socket, asio::buffer(request), ec);
  std::string answer;
  asio::read(socket, asio::dynamic_buffer(answer), ec);
  return answer;
}

std::string get(std::uint16_t port, const std::string& path) {
  return ask(port, "GET " + path + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
}

std::string post(std::uint16_t port, const std::string& path, const std::string& body) {
  return ask(port, "POST " + path +
                       " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
                       "Content-Type: application/json\r\nContent-Length: " +
                       std::to_string(body.size()) + "\r\n\r\n" + body);
}

std::string chat(std::uint16_t port, const std::string& text) {
  return post(port, "/v1/chat/completions",
              R"({"model":"m","messages":[{"role":"user","content":")" + text + "\"}]}");
}

bool is_ok(const std::string& answer) { return answer.starts_with("HTTP/1.1 200 "); }

// The gateway on a thread of its own, ended by SIGTERM as a user would.
class Running {
 public:
  explicit Running(Options options) : options_(std::move(options)) {
    options_.host = options_.prometheus_host = "127.0.0.1";
    options_.port = port = free_port();
    options_.prometheus_port = metrics_port = free_port();
    options_.io_threads = 2;
    options_.log.level = log::Level::error;
    options_.shutdown_grace = std::chrono::seconds(2);
    thread_ = std::thread([this] { exit_code = run_gateway(options_); });
  }
  ~Running() {
    if (thread_.joinable()) stop();
  }
  int stop() {
    ::kill(::getpid(), SIGTERM);
    thread_.join();
    return exit_code;
  }
  bool wait_ready() const {
    return wait_for([this] { return is_ok(get(port, "/readiness")); });
  }
  template <class Condition>
  static bool wait_for(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < deadline) {
      if (condition()) return true;
      std::this_thread::yield();
    }
    return false;
  }

  std::uint16_t port = 0;
  std::uint16_t metrics_port = 0;

 private:
  Options options_;
  int exit_code = -1;
  std::thread thread_;
};

TEST(Gateway, RoutesAFollowUpToTheWorkerOfItsFirstTurn) {
  Worker a("a");
  Worker b("b");
  Options options;
  options.worker_urls = {*parse_url(a.url()), *parse_url(b.url())};
  Running gateway(options);
  ASSERT_TRUE(Running::wait_for([&] {
    return get(gateway.port, "/readiness").find("\"healthy_workers\":2") != std::string::npos;
  }));
  const std::string system(400, 's');
  const std::string first = chat(gateway.port, system + " one");
  ASSERT_TRUE(is_ok(first)) << first;
  const std::string body = first.substr(first.find("\r\n\r\n"));
  for (int turn = 0; turn < 10; ++turn) {
    const std::string next = chat(gateway.port, system + " one and more " + std::to_string(turn));
    EXPECT_EQ(next.substr(next.find("\r\n\r\n")), body);
  }
  EXPECT_EQ(gateway.stop(), 0);
}

TEST(Gateway, ServesWhileWorkersComeAndGoAndMetricsAreRead) {
  Worker a("a");
  Worker b("b");
  Options options;
  options.worker_urls = {*parse_url(a.url())};
  options.policy.cache_aware.max_tree_size = 2000;
  options.policy.cache_aware.eviction_interval_s = 1;
  options.drain_settle = std::chrono::seconds(0);
  Running gateway(options);
  ASSERT_TRUE(gateway.wait_ready());

  std::atomic<bool> done{false};
  std::atomic<int> failed{0};
  std::atomic<int> served{0};
  std::vector<std::jthread> clients;
  for (int client = 0; client < 3; ++client) {
    clients.emplace_back([&, client] {
      for (int i = 0; i < 150; ++i) {
        const std::string text = std::to_string(client) + std::string(200, 'x') + std::to_string(i);
        is_ok(chat(gateway.port, text)) ? ++served : ++failed;
      }
    });
  }
  std::jthread churn([&] {
    while (!done) {
      post(gateway.port, "/workers", "{\"url\":\"" + b.url() + "\"}");
      const std::string listed = get(gateway.port, "/workers");
      const std::size_t at = listed.find("\"url\":\"" + b.url());
      const std::size_t id = listed.rfind("\"id\":\"", at);
      if (at != std::string::npos && id != std::string::npos) {
        ask(gateway.port, "DELETE /workers/" + listed.substr(id + 6, 36) +
                              " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
      }
      get(gateway.metrics_port, "/metrics");
    }
  });
  clients.clear();
  done = true;
  churn.join();
  EXPECT_EQ(served, 450);
  EXPECT_EQ(failed, 0);
  EXPECT_TRUE(Running::wait_for([&] {
    return get(gateway.metrics_port, "/metrics").find("smg_http_connections_active 0\n") !=
           std::string::npos;
  }));
  EXPECT_EQ(gateway.stop(), 0);
}

}  // namespace
}  // namespace smg::app
