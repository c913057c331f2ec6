#include "smg/control/plane.hpp"

#include <boost/asio/post.hpp>
#include <utility>

#include "smg/base/log.hpp"
#include "smg/control/deps.hpp"
#include "smg/control/evictor.hpp"
#include "smg/control/fleet_metrics.hpp"
#include "smg/control/roster.hpp"
#include "smg/metrics/registry.hpp"
#include "smg/upstream/connector.hpp"

namespace smg::control {

namespace {

// Owns the connector: an exchange that nobody waits for any more may outlive the plane.
Fetch make_fetch(const Sources& sources, std::chrono::milliseconds connect_timeout) {
  auto connector =
      std::make_shared<upstream::Connector>(sources.context, sources.deadlines, connect_timeout);
  return [connector = std::move(connector)](upstream::FetchRequest request) {
    return upstream::fetch(*connector, std::move(request));
  };
}

}  // namespace

struct Plane::Impl {
  Impl(const Sources& sources, const Options& options)
      : deps(Deps::State{sources.context, sources.fleet, sources.registry, sources.loads,
                         sources.indexes},
             options, make_fetch(sources, options.connect_timeout)),
        roster(deps),
        evictor(deps),
        admin(deps, roster) {}

  void begin(std::vector<worker::WorkerSpec> workers) {
    for (worker::WorkerSpec& spec : workers) {
      WorkerRequest request;
      request.spec = std::move(spec);
      const std::string url = request.spec.url.text;
      if (deps.registry.workers().load()->find_url(url)) continue;
      const auto added = roster.add(std::move(request));
      if (added) continue;
      log::write(log::target("smg::workers"), log::Level::error, "Worker not registered",
                 {{"url", url}, {"reason", added.error().detail}});
    }
    deps.tasks.spawn(evictor.run(roster.life()));
    if (roster.load_monitor().enabled()) {
      deps.tasks.spawn(roster.load_monitor().run_expiry(roster.life()));
    }
  }

  void end(std::function<void()> stopped) {
    roster.stop();
    if (stopped) deps.tasks.when_idle(std::move(stopped));
  }

  Deps deps;
  Roster roster;
  Evictor evictor;
  Admin admin;
};

Plane::Plane(Sources sources, Options options) : impl_(std::make_shared<Impl>(sources, options)) {
  impl_->deps.tasks.keep_alive(impl_);
  // Weak: the registry of metrics may outlive the plane.
  sources.metrics.add_collector([impl = std::weak_ptr<Impl>(impl_)] {
    const auto alive = impl.lock();
    return alive ? fleet_families(alive->deps) : std::vector<prometheus::MetricFamily>{};
  });
}

Plane::~Plane() = default;

void Plane::start(std::vector<worker::WorkerSpec> workers) {
  asio::post(impl_->deps.context, [impl = impl_, workers = std::move(workers)]() mutable {
    impl->begin(std::move(workers));
  });
}

void Plane::stop(std::function<void()> stopped) {
  impl_->deps.stopping.store(true, std::memory_order_relaxed);
  asio::post(impl_->deps.context, [impl = impl_, stopped = std::move(stopped)]() mutable {
    impl->end(std::move(stopped));
  });
}

Admin& Plane::admin() { return impl_->admin; }

}  // namespace smg::control
