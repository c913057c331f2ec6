#include "smg/control/roster.hpp"

#include <utility>

#include "smg/base/clock.hpp"
#include "smg/base/log.hpp"

namespace smg::control {

using worker::WorkerStatus;

namespace {

constexpr std::chrono::milliseconds kDrainCheck{100};

log::Target& workers_log() {
  static log::Target& target = log::target("smg::workers");
  return target;
}

Error no_such_worker() {
  return {Errc::invalid_argument, Side::downstream, Retry::never, "no such worker"};
}

}  // namespace

Roster::Roster(Deps& deps)
    : deps_(deps),
      discovery_(deps),
      health_checker_(deps, [this](const std::string& uuid) { remove(uuid); }),
      load_monitor_(deps) {}

Result<std::shared_ptr<const worker::Worker>> Roster::add(WorkerRequest request) {
  auto added = deps_.registry.add(std::move(request.spec));
  if (!added) return added.error();
  const auto worker = *added;
  auto tenure = std::make_shared<Tenure>(deps_.context, *worker,
                                         worker->spec.health.value_or(deps_.options.health));
  tenure->drain_settle = request.drain_settle;
  tenure->overload = request.overload;
  tenures_.insert_or_assign(worker->uuid, tenure);
  log::write(workers_log(), log::Level::info, "Worker registered",
             {{"url", worker->url()}, {"worker_id", worker->uuid}});
  discovery_.publish_spec(*tenure);
  // In this order: the first probe finds a round of questions under way.
  deps_.tasks.spawn(discovery_.run(tenure));
  deps_.tasks.spawn(health_checker_.run(tenure));
  if (load_monitor_.enabled()) deps_.tasks.spawn(load_monitor_.run(tenure));
  return added;
}

Result<> Roster::replace(std::string_view uuid, WorkerRequest request) {
  const auto found = tenures_.find(uuid);
  if (found == tenures_.end() || found->second->life.ended()) return no_such_worker();
  Tenure& tenure = *found->second;
  const auto replaced = deps_.registry.replace(uuid, std::move(request.spec));
  if (!replaced) return replaced.error();
  const worker::Worker& worker = **replaced;
  ++tenure.generation;
  tenure.drain_settle = request.drain_settle;
  tenure.overload = request.overload;
  HealthChecker::reset(tenure, worker.spec.health.value_or(deps_.options.health), worker.status());
  deps_.loads.forget(tenure.id);
  discovery_.publish_spec(tenure);
  tenure.probe_now.notify();
  tenure.discover_now.notify();
  tenure.poll_now.notify();
  log::write(workers_log(), log::Level::info, "Worker updated",
             {{"url", worker.url()}, {"worker_id", worker.uuid}});
  return {};
}

std::optional<WorkerRequest> Roster::current(std::string_view uuid) const {
  const auto found = tenures_.find(uuid);
  if (found == tenures_.end() || found->second->life.ended()) return {};
  const Tenure& tenure = *found->second;
  WorkerRequest request;
  request.spec = tenure.worker(deps_)->spec;
  request.drain_settle = tenure.drain_settle;
  request.overload = tenure.overload;
  return request;
}

void Roster::remove(std::string_view uuid) {
  const auto found = tenures_.find(uuid);
  if (found == tenures_.end() || found->second->life.ended()) return;
  const TenurePtr tenure = found->second;
  const auto worker = tenure->worker(deps_);
  const WorkerStatus before = worker->status();
  tenure->life.end();
  deps_.loads.forget(tenure->id);
  if (before != WorkerStatus::ready) {
    erase(tenure, *worker);
    return;
  }
  deps_.registry.set_status(tenure->id, WorkerStatus::draining);
  log::write(workers_log(), log::Level::info, "Worker draining",
             {{"url", worker->url()}, {"model_id", worker->model_id()}});
  deps_.tasks.spawn(drain(tenure, worker));
}

awaitable<void> Roster::drain(TenurePtr tenure, std::shared_ptr<const worker::Worker> worker) {
  Pulse pulse(deps_.context);
  const auto settle = tenure->drain_settle.value_or(deps_.options.drain_settle);
  if (co_await pulse.wait(life_, settle) == Woken::ended) co_return;
  const TimePoint limit = Clock::now() + kMaxDrain;
  while (deps_.fleet.in_flight(tenure->id) > 0 && Clock::now() < limit) {
    if (co_await pulse.wait(life_, kDrainCheck) == Woken::ended) co_return;
  }
  erase(tenure, *worker);
}

void Roster::erase(const TenurePtr& tenure, const worker::Worker& worker) {
  tenures_.erase(tenure->uuid);
  deps_.loads.remove(tenure->id);
  (void)deps_.registry.remove(tenure->uuid);
  log::write(workers_log(), log::Level::info, "Worker removed",
             {{"url", worker.url()}, {"model_id", worker.model_id()}});
}

void Roster::stop() {
  life_.end();
  for (const auto& [uuid, tenure] : tenures_) tenure->life.end();
}

}  // namespace smg::control
