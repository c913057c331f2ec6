#include "smg/control/health_checker.hpp"

#include <utility>

#include "smg/base/clock.hpp"
#include "smg/base/log.hpp"

namespace smg::control {

using worker::WorkerStatus;

namespace {

log::Target& workers_log() {
  static log::Target& target = log::target("smg::workers");
  return target;
}

bool healthy(const FetchResult& result) {
  return result && result->status >= 200 && result->status < 300;
}

std::string reason(const FetchResult& result) {
  return result ? "status " + std::to_string(result->status) : result.error().detail;
}

}  // namespace

worker::HealthOptions HealthChecker::options_of(const Tenure& tenure) const {
  return tenure.worker(deps_)->spec.health.value_or(deps_.options.health);
}

awaitable<void> HealthChecker::run(TenurePtr tenure) {
  while (!tenure->life.ended()) {
    const std::uint64_t generation = tenure->generation;
    const worker::HealthOptions options = options_of(*tenure);
    if (options.disabled) {
      if (!tenure->was_ready || tenure->worker(deps_)->status() != WorkerStatus::ready) {
        co_await bring_in(tenure);
      }
      if (generation != tenure->generation) continue;
      co_await tenure->probe_now.wait(tenure->life, kForever);
      continue;
    }
    FetchResult result = co_await probe(tenure, options);
    if (tenure->life.ended()) co_return;
    // Under another spec the answer says nothing: ask again at once.
    if (generation != tenure->generation) continue;
    co_await take(tenure, std::move(result));
    if (tenure->life.ended()) co_return;
    if (generation != tenure->generation) continue;
    co_await tenure->probe_now.wait(tenure->life, tenure->health.next_delay());
  }
}

awaitable<FetchResult> HealthChecker::probe(TenurePtr tenure, worker::HealthOptions options) {
  const auto permit = co_await permits_.acquire(tenure->life);
  if (!permit) co_return Error{Errc::canceled, Side::gateway, Retry::never, "canceled"};
  upstream::FetchRequest request = request_to(*tenure->worker(deps_), options.endpoint);
  request.timeout = options.timeout;
  FetchResult result = co_await deps_.fetch(tenure->life, std::move(request));
  co_return result;
}

awaitable<void> HealthChecker::take(TenurePtr tenure, FetchResult result) {
  const bool good = healthy(result);
  if (deps_.options.on_probe) deps_.options.on_probe(good);
  if (!good && !result && result.error().code == Errc::connect_failed &&
      result.error().side == Side::upstream) {
    tenure->refused = true;
  }
  const WorkerStatus after = tenure->health.record(good);
  const WorkerStatus now = tenure->worker(deps_)->status();
  if (good && std::exchange(tenure->refused, false) && tenure->was_ready) {
    deps_.indexes.remove(tenure->id);
    log::write(workers_log(), log::Level::info, "Worker restarted, its prefixes are forgotten",
               {{"url", tenure->worker(deps_)->url()}});
  }
  if (!good) {
    log::write(workers_log(), log::Level::debug, "Health check failed",
               {{"url", tenure->worker(deps_)->url()}, {"reason", reason(result)}});
  }
  if (after == now) co_return;
  if (after == WorkerStatus::ready) {
    co_await bring_in(tenure);
  } else {
    take_out(*tenure, after, result);
  }
}

awaitable<void> HealthChecker::bring_in(TenurePtr tenure) {
  const std::uint64_t generation = tenure->generation;
  const auto worker = tenure->worker(deps_);
  // The first round of questions runs already; a worker that comes back may be another engine.
  if (tenure->was_ready || !tenure->discovering) tenure->discover_now.notify();
  if (!options_of(*tenure).disabled && worker->models().empty()) co_await wait_for_models(tenure);
  if (tenure->life.ended() || generation != tenure->generation) co_return;
  tenure->was_ready = true;
  deps_.registry.set_status(tenure->id, WorkerStatus::ready);
  tenure->poll_now.notify();
  // That round may have begun before the engine listened.
  if (tenure->worker(deps_)->models().empty()) tenure->discover_now.notify();
  const auto current = tenure->worker(deps_);
  log::write(workers_log(), log::Level::info, "Worker ready",
             {{"url", current->url()},
              {"model_id", current->model_id()},
              {"runtime", current->runtime()}});
}

awaitable<void> HealthChecker::wait_for_models(TenurePtr tenure) {
  const TimePoint limit = Clock::now() + kModelsWait;
  const std::uint64_t round = tenure->rounds + 1;  // the one that runs or is about to
  while (tenure->worker(deps_)->models().empty() && tenure->rounds < round) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - Clock::now());
    if (left.count() <= 0) co_return;
    if (co_await tenure->learned.wait(tenure->life, left) == Woken::ended) co_return;
  }
}

void HealthChecker::take_out(Tenure& tenure, WorkerStatus status, const FetchResult& result) {
  const auto worker = tenure.worker(deps_);
  deps_.registry.set_status(tenure.id, status);
  deps_.loads.forget(tenure.id);
  deps_.fleet.unblock(tenure.id, worker::kOverloaded);
  log::write(workers_log(), log::Level::warn,
             status == WorkerStatus::failed ? "Worker failed" : "Worker not ready",
             {{"url", worker->url()},
              {"model_id", worker->model_id()},
              {"status", worker::to_string(status)},
              {"reason", reason(result)}});
  if (status == WorkerStatus::failed && deps_.options.remove_unhealthy) on_failed_(tenure.uuid);
}

void HealthChecker::reset(Tenure& tenure, const worker::HealthOptions& options,
                          WorkerStatus status) {
  worker::HealthState state(options);
  if (status != WorkerStatus::pending) state.record(true);
  if (status == WorkerStatus::not_ready || status == WorkerStatus::failed) {
    for (std::uint32_t i = 0; i < options.failure_threshold; ++i) state.record(false);
  }
  tenure.health = std::move(state);
}

}  // namespace smg::control
