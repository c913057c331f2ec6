#include "smg/app/gateway.hpp"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "smg/control/plane.hpp"
#include "smg/metrics/registry.hpp"
#include "smg/metrics/request_metrics.hpp"
#include "smg/proxy/endpoints.hpp"
#include "smg/proxy/forwarder.hpp"
#include "smg/server/admin_routes.hpp"
#include "smg/server/edge_observer.hpp"

namespace smg::app {
namespace {

// A load balancer in front is given this long, at most, to notice that the gateway is not ready.
constexpr std::chrono::seconds kMaxSettle{5};
constexpr std::chrono::milliseconds kDrainPoll{20};
constexpr std::chrono::seconds kCutTime{1};  // for sessions to notice that they are cut

void must(const Result<>& result) {
  if (!result) throw std::runtime_error(result.error().detail);
}

// glibc gives the top of a thread's heap back whenever 128 KiB of it are free, and faults it in
// again with the next buffer: several microseconds for most requests. Blocks beyond kMmapThreshold
// are mapped one by one and go back at once, so what is kept stays small.
void keep_small_heaps() {
  constexpr int kTrimThreshold = 8 * 1024 * 1024;
  constexpr int kMmapThreshold = 256 * 1024;
  mallopt(M_TRIM_THRESHOLD, kTrimThreshold);
  mallopt(M_MMAP_THRESHOLD, kMmapThreshold);
}

// Every connection is a descriptor: as many as the system allows.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

class BranchCounter final : public policy::CacheAwareObserver {
 public:
  // Before the first request: the policy is made before the metrics are.
  void attach(metrics::RequestMetrics& metrics) { metrics_ = &metrics; }
  void on_decision(policy::Branch branch, double match_ratio) noexcept override {
    using Label = metrics::CacheAwareBranch;
    Label label = Label::first_healthy_fallback;
    switch (branch) {
      case policy::Branch::tree_match:
        label = Label::tree_match;
        break;
      case policy::Branch::spill:
        label = Label::spill;
        break;
      case policy::Branch::expected_wait_fallback:
        label = Label::expected_wait_fallback;
        break;
      case policy::Branch::first_healthy_fallback:
        break;
    }
    metrics_->count_cache_aware(label, match_ratio);
  }

 private:
  metrics::RequestMetrics* metrics_ = nullptr;
};

std::vector<std::string> route_paths(control::Plane& plane) {
  std::vector<server::Route> routes = server::admin_routes(plane);
  std::vector<std::string> paths;
  for (const proxy::Endpoint& endpoint : proxy::inference_endpoints()) {
    paths.emplace_back(endpoint.path);
  }
  for (const proxy::Endpoint& endpoint : proxy::worker_info_endpoints()) {
    paths.emplace_back(endpoint.path);
  }
  for (const server::Route& route : routes) {
    if (std::find(paths.begin(), paths.end(), route.path) == paths.end()) {
      paths.push_back(route.path);
    }
  }
  return paths;
}

// One I/O thread and what only it uses.
struct Lane {
  explicit Lane(const proxy::Options& options)
      : connector(io.context, io.deadlines, options.connect_timeout) {}

  server::IoThread io;
  upstream::Connector connector;
  std::optional<proxy::Selector> selector;
  std::optional<proxy::Forwarder> forwarder;
  std::optional<server::RouteTable> routes;
};

class Gateway {
 public:
  explicit Gateway(const Options& options);
  int run();

 private:
  control::Options control_options();
  worker::Registry::Options registry_options();
  void add_lane();
  std::vector<worker::WorkerSpec> startup_workers() const;
  awaitable<void> serve_signals();
  awaitable<void> drain();
  awaitable<void> end();
  bool any_worker_ready() const;
  std::size_t connections() const;

  const Options& options_;
  metrics::Registry metrics_;
  worker::Fleet fleet_;
  policy::PrefixIndexes indexes_;
  Snapshot<worker::LoadTable> loads_{std::make_shared<const worker::LoadTable>()};
  BranchCounter branches_;
  std::unique_ptr<policy::Policy> policy_;
  worker::Registry registry_;
  server::IoThread control_;
  asio::signal_set signals_{control_.context, SIGINT, SIGTERM};
  std::optional<control::Plane> plane_;
  std::optional<metrics::RequestMetrics> request_metrics_;
  std::optional<server::EdgeObserver> observer_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::optional<server::RouteTable> metrics_routes_;
  std::optional<server::Listener> listener_;
  std::optional<server::Listener> metrics_listener_;
};

Gateway::Gateway(const Options& options)
    : options_(options),
      indexes_(options.policy.cache_aware.block_size, options.policy.cache_aware.max_tree_size),
      policy_(policy::make_policy(options.policy, indexes_, branches_)),
      registry_(fleet_, registry_options()) {
  control::Sources sources{control_.context, control_.deadlines, fleet_,  registry_,
                           loads_,           indexes_,           metrics_};
  plane_.emplace(sources, control_options());

  metrics::RequestMetricsOptions metric_options;
  metric_options.paths = route_paths(*plane_);
  metric_options.errors = server::gateway_errors();
  metric_options.policies.reserve(policy::policy_names().size());
  for (const std::string_view name : policy::policy_names()) {
    metric_options.policies.emplace_back(name);
  }
  request_metrics_.emplace(metrics_, std::move(metric_options));
  branches_.attach(*request_metrics_);
  observer_.emplace(*request_metrics_);

  for (std::uint32_t i = 0; i < options.io_threads; ++i) add_lane();
  std::vector<server::IoThread*> threads;
  threads.reserve(lanes_.size());
  for (const auto& lane : lanes_) threads.push_back(&lane->io);
  listener_.emplace(
      std::move(threads), options.session,
      [this](std::size_t thread) -> const server::RouteTable& { return *lanes_[thread]->routes; },
      &*observer_);

  metrics_routes_.emplace(std::vector<server::Route>{
      {"GET", "/metrics", server::Access::open, [this](proxy::Call& call) -> awaitable<void> {
         proxy::Response response;
         response.content_type = metrics::Registry::kContentType;
         response.body = metrics_.expose();
         return proxy::respond(call, std::move(response));
       }}});
  metrics_listener_.emplace(
      std::vector<server::IoThread*>{&control_}, server::SessionOptions{},
      [this](std::size_t) -> const server::RouteTable& { return *metrics_routes_; }, nullptr);
}

control::Options Gateway::control_options() {
  control::Options control;
  control.health = options_.health;
  control.breaker = options_.breaker;
  control.load_monitoring = !options_.disable_load_monitoring;
  control.policy_wants_loads = policy_->wants_loads();
  control.load_interval = options_.load_monitor_interval;
  control.eviction_interval = std::chrono::seconds(options_.policy.cache_aware.eviction_interval_s);
  control.drain_settle = options_.drain_settle;
  control.connect_timeout = options_.proxy.connect_timeout;
  control.remove_unhealthy = options_.remove_unhealthy_workers;
  control.allow_link_local = options_.allow_link_local_workers;
  control.on_probe = [this](bool good) { request_metrics_->count_health_check(good); };
  return control;
}

worker::Registry::Options Gateway::registry_options() {
  worker::Registry::Options registry;
  registry.breaker = options_.breaker;
  registry.on_removed = [this](worker::WorkerId id) { policy_->on_worker_removed(id); };
  registry.on_transition = [](const std::string& url, worker::BreakerState from,
                              worker::BreakerState to) {
    log::write(log::target("smg::workers"), log::Level::info, "Circuit breaker state transition",
               {{"worker", std::string_view(url)},
                {"from", std::string_view(worker::to_string(from))},
                {"to", std::string_view(worker::to_string(to))}});
  };
  return registry;
}

void Gateway::add_lane() {
  auto lane = std::make_unique<Lane>(options_.proxy);
  lane->selector.emplace(registry_.workers(), loads_, fleet_, *policy_);
  const auto& names = policy::policy_names();
  const auto policy_id = static_cast<metrics::PolicyId>(
      std::find(names.begin(), names.end(), policy_->name()) - names.begin());
  lane->forwarder.emplace(
      proxy::Forwarder::Parts{lane->connector, *lane->selector, *request_metrics_, policy_id},
      options_.proxy);

  std::vector<server::Route> routes;
  proxy::Forwarder& forwarder = *lane->forwarder;
  for (const proxy::Endpoint& endpoint : proxy::inference_endpoints()) {
    routes.push_back({"POST", std::string(endpoint.path), server::Access::keyed,
                      [&](proxy::Call& call) { return forwarder.forward(call, endpoint); }});
  }
  for (const proxy::Endpoint& endpoint : proxy::worker_info_endpoints()) {
    routes.push_back({"GET", std::string(endpoint.path), server::Access::open,
                      [&](proxy::Call& call) { return forwarder.forward_any(call, endpoint); }});
  }
  for (server::Route& route : server::admin_routes(*plane_)) routes.push_back(std::move(route));
  lane->routes.emplace(std::move(routes));
  lanes_.push_back(std::move(lane));
}

std::vector<worker::WorkerSpec> Gateway::startup_workers() const {
  std::vector<worker::WorkerSpec> specs;
  for (const Url& url : options_.worker_urls) {
    worker::WorkerSpec spec;
    spec.url = url;
    spec.api_key = options_.worker_api_key;
    specs.push_back(std::move(spec));
  }
  return specs;
}

bool Gateway::any_worker_ready() const {
  const auto workers = registry_.workers().load();
  const auto& ids = workers->any().workers;
  return std::any_of(ids.begin(), ids.end(), [&](worker::WorkerId id) {
    return workers->at(id)->status() == worker::WorkerStatus::ready;
  });
}

int Gateway::run() {
  must(metrics_listener_->open(options_.prometheus_host, options_.prometheus_port));
  must(listener_->open(options_.host, options_.port));
  asio::co_spawn(control_.context, serve_signals(), asio::detached);

  using Guard = asio::executor_work_guard<asio::io_context::executor_type>;
  std::vector<Guard> guards;
  std::vector<std::jthread> threads;
  for (const auto& lane : lanes_) {
    guards.emplace_back(lane->io.context.get_executor());
    threads.emplace_back([&context = lane->io.context] { context.run(); });
  }
  log::write(log::target("smg::server"), log::Level::info, "listening",
             {{"host", std::string_view(options_.host)},
              {"port", std::uint64_t{listener_->port()}},
              {"metrics_port", std::uint64_t{metrics_listener_->port()}},
              {"policy", policy_->name()},
              {"workers", std::uint64_t{options_.worker_urls.size()}},
              {"io_threads", std::uint64_t{lanes_.size()}}});
  plane_->start(startup_workers());
  control_.context.run();
  for (const auto& lane : lanes_) lane->io.context.stop();
  threads.clear();
  return 0;
}

awaitable<void> Gateway::serve_signals() {
  boost::system::error_code ec;
  const int first = co_await signals_.async_wait(asio::redirect_error(use_awaitable, ec));
  log::write(log::target("smg::server"), log::Level::info, "shutting down",
             {{"signal", std::int64_t{first}},
              {"grace_s", std::int64_t{options_.shutdown_grace.count()}}});
  asio::co_spawn(control_.context, drain(), asio::detached);
  const int second = co_await signals_.async_wait(asio::redirect_error(use_awaitable, ec));
  if (!ec) _exit(128 + second);
}

// Not ready at once; still serving while load balancers notice; then no new connections, and the
// running requests have the rest of the grace period.
awaitable<void> Gateway::drain() {
  const TimePoint deadline = Clock::now() + options_.shutdown_grace;
  plane_->admin().set_draining();
  boost::system::error_code ec;
  asio::steady_timer timer(control_.context);
  if (any_worker_ready()) {
    timer.expires_after(std::min<Clock::duration>(options_.shutdown_grace / 2, kMaxSettle));
    co_await timer.async_wait(asio::redirect_error(use_awaitable, ec));
  }
  listener_->drain();
  while (listener_->active() > 0 && Clock::now() < deadline) {
    timer.expires_after(kDrainPoll);
    co_await timer.async_wait(asio::redirect_error(use_awaitable, ec));
  }
  if (const std::size_t left = listener_->active(); left > 0) {
    log::write(log::target("smg::server"), log::Level::warn, "grace period over",
               {{"requests_cut", std::uint64_t{left}}});
  }
  co_await end();
}

awaitable<void> Gateway::end() {
  listener_->stop();
  metrics_listener_->stop();
  boost::system::error_code ec;
  asio::steady_timer timer(control_.context);
  const TimePoint deadline = Clock::now() + kCutTime;
  while (connections() > 0 && Clock::now() < deadline) {
    timer.expires_after(kDrainPoll);
    co_await timer.async_wait(asio::redirect_error(use_awaitable, ec));
  }
  plane_->stop([this] { control_.context.stop(); });
}

std::size_t Gateway::connections() const {
  std::size_t count = control_.connections.load();
  for (const auto& lane : lanes_) count += lane->io.connections.load();
  return count;
}

}  // namespace

int run_gateway(const Options& options) {
  must(log::start(options.log));
  raise_descriptor_limit();
  keep_small_heaps();
  int code = 0;
  {
    Gateway gateway(options);
    code = gateway.run();
  }
  log::stop();
  return code;
}

}  // namespace smg::app
