// A control plane with everything it needs, on the test's own thread.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smg/control/plane.hpp"
#include "smg/metrics/registry.hpp"
#include "support/scripted_server.hpp"

namespace smg::control {

class PlaneWorld {
 public:
  explicit PlaneWorld(Options options = quick()) : registry(fleet, registry_options()) {
    Sources sources{context, deadlines, fleet, registry, loads, indexes, metrics};
    plane.emplace(sources, std::move(options));
  }
  ~PlaneWorld() {
    stop();
    context.restart();
    context.poll();
  }

  static Options quick() {
    Options options;
    options.health.interval = std::chrono::seconds(1);
    options.health.timeout = std::chrono::seconds(2);
    options.health.failure_threshold = 1;
    options.health.success_threshold = 1;
    options.load_interval = std::chrono::milliseconds(20);
    options.drain_settle = std::chrono::milliseconds(0);
    return options;
  }

  static worker::WorkerSpec spec(const test::ScriptedServer& server) { return spec(server.url()); }
  static worker::WorkerSpec spec(const std::string& url) {
    worker::WorkerSpec made;
    made.url = *parse_url(url);
    return made;
  }

  void start(std::vector<worker::WorkerSpec> workers = {}) { plane->start(std::move(workers)); }
  // Whether every loop ended within a second.
  bool stop() {
    if (stopped_ || !plane) return true;
    bool done = false;
    plane->stop([&done] { done = true; });
    stopped_ = until([&done] { return done; }, std::chrono::seconds(1));
    return stopped_;
  }

  template <class Condition>
  bool until(Condition condition, std::chrono::milliseconds limit = std::chrono::seconds(10)) {
    return test::run_until(context, std::move(condition), limit);
  }

  std::shared_ptr<const worker::Worker> worker(const std::string& url) const {
    return registry.workers().load()->find_url(url);
  }
  bool has_status(const std::string& url, worker::WorkerStatus status) const {
    const auto found = worker(url);
    return found && found->status() == status;
  }
  bool ready(const std::string& url) const { return has_status(url, worker::WorkerStatus::ready); }

  Reply run(awaitable<Reply> operation) {
    std::optional<Reply> reply;
    asio::co_spawn(context, std::move(operation),
                   [&reply](const std::exception_ptr&, Reply done) { reply = std::move(done); });
    EXPECT_TRUE(until([&reply] { return reply.has_value(); }));
    return reply.value_or(Reply{});
  }
  static nlohmann::json json(const Reply& reply) {
    return nlohmann::json::parse(reply.body, nullptr, false);
  }

  asio::io_context context{1};
  Deadlines deadlines{context};
  worker::Fleet fleet;
  policy::PrefixIndexes indexes{16, 1'000};
  Snapshot<worker::LoadTable> loads{std::make_shared<const worker::LoadTable>()};
  worker::Registry registry;
  metrics::Registry metrics;
  std::optional<Plane> plane;

 private:
  worker::Registry::Options registry_options() {
    worker::Registry::Options options;
    options.on_removed = [this](worker::WorkerId id) { indexes.remove(id); };
    return options;
  }
  bool stopped_ = false;
};

// Scripts a worker of that model.
inline void serve_model(test::ScriptedServer& server, const std::string& model) {
  server.answer("/health", 200);
  server.answer("/v1/models", 200, R"({"data":[{"id":")" + model + R"(","owned_by":"vllm"}]})");
  server.answer("/version", 200, R"({"version":"1"})");
}

}  // namespace smg::control
