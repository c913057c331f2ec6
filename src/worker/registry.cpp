#include "smg/worker/registry.hpp"

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <utility>

namespace smg::worker {
namespace {

Error refusal(Errc code, std::string detail) {
  return Error{code, Side::gateway, Retry::never, std::move(detail)};
}

// Derived from the URL, so that it is the same after a restart and in every gateway.
std::string uuid_of(const Url& url) {
  const boost::uuids::name_generator_sha1 generator(boost::uuids::ns::url());
  return boost::uuids::to_string(generator(url.text));
}

WorkerStatus first_status(const WorkerSpec& spec) {
  return spec.health && spec.health->disabled ? WorkerStatus::ready : WorkerStatus::pending;
}

void set_ready_block(Fleet& fleet, WorkerId id, WorkerStatus status) {
  if (status == WorkerStatus::ready) {
    fleet.unblock(id, kNotReady);
  } else {
    fleet.block(id, kNotReady);
  }
}

}  // namespace

Registry::Registry(Fleet& fleet, Options options)
    : fleet_(fleet),
      options_(std::move(options)),
      snapshot_(std::make_shared<const WorkerSet>()),
      names_(std::make_shared<const StringMap<std::uint32_t>>()) {}

// Requests that are still running report to breakers that must not call back any more.
Registry::~Registry() {
  for (const auto& worker : workers_) worker->shared->breaker.retire();
}

Result<std::shared_ptr<const Worker>> Registry::add(WorkerSpec spec) {
  const bool taken = std::any_of(workers_.begin(), workers_.end(), [&](const auto& worker) {
    return worker->url() == spec.url.text;
  });
  if (taken) return refusal(Errc::invalid_argument, spec.url.text + " is already registered");
  const Result<WorkerId> id = take_id();
  if (!id) return id.error();

  auto worker = std::make_shared<Worker>();
  worker->id = *id;
  worker->uuid = uuid_of(spec.url);
  worker->shared = make_shared_state(spec, *id);
  worker->spec = std::move(spec);
  const WorkerStatus status = first_status(worker->spec);
  worker->shared->status.store(status, std::memory_order_relaxed);
  fleet_.reset(*id);
  set_ready_block(fleet_, *id, status);

  if (order_.size() <= *id) order_.resize(*id + std::size_t{1});
  order_[*id] = registrations_++;
  workers_.push_back(worker);
  join_models(*worker);
  publish();
  return std::shared_ptr<const Worker>(std::move(worker));
}

Result<WorkerId> Registry::take_id() {
  if (next_unused_ < kMaxWorkers) return next_unused_++;
  const auto idle = std::find_if(freed_.begin(), freed_.end(),
                                 [&](WorkerId id) { return fleet_.in_flight(id) == 0; });
  if (idle == freed_.end()) {
    return refusal(Errc::unavailable,
                   "no more than " + std::to_string(kMaxWorkers) + " workers can be registered");
  }
  const WorkerId id = *idle;
  freed_.erase(idle);
  if (options_.on_removed) options_.on_removed(id);
  return id;
}

std::shared_ptr<Worker::Shared> Registry::make_shared_state(const WorkerSpec& spec, WorkerId id) {
  auto on_transition = [this, id, url = spec.url.text](BreakerState from, BreakerState to) {
    if (to == BreakerState::closed) {
      fleet_.unblock(id, kBreaker);
    } else {
      fleet_.block(id, kBreaker);
    }
    if (options_.on_transition) options_.on_transition(url, from, to);
  };
  return std::make_shared<Worker::Shared>(spec.breaker.value_or(options_.breaker),
                                          std::move(on_transition));
}

Result<std::shared_ptr<const Worker>> Registry::replace(std::string_view uuid, WorkerSpec spec) {
  const Position old = find_uuid(uuid);
  if (old == workers_.end()) return refusal(Errc::invalid_argument, "no such worker");
  if ((*old)->url() != spec.url.text) {
    return refusal(Errc::invalid_argument, "a worker's URL cannot be changed");
  }
  auto next = std::make_shared<Worker>(**old);
  next->spec = std::move(spec);
  ++next->revision;
  const auto breaker =
      std::make_unique<CircuitBreaker>(next->spec.breaker.value_or(options_.breaker), nullptr);
  if (breaker->options() != (*old)->shared->breaker.options()) {
    (*old)->shared->breaker.retire();
    fleet_.unblock(next->id, kBreaker);
    next->shared = make_shared_state(next->spec, next->id);
    next->shared->status = (*old)->status();
    next->shared->requests_total = (*old)->shared->requests_total.load();
  }
  exchange(old, next);
  return std::shared_ptr<const Worker>(std::move(next));
}

Result<> Registry::set_discovered(WorkerId id, Discovered discovered) {
  const Position old = find_id(id);
  if (old == workers_.end()) return refusal(Errc::invalid_argument, "no such worker");
  auto next = std::make_shared<Worker>(**old);
  next->discovered = std::move(discovered);
  exchange(old, std::move(next));
  return {};
}

void Registry::exchange(Position old, std::shared_ptr<Worker> next) {
  leave_models(**old);
  *old = std::move(next);
  join_models(**old);
  publish();
}

void Registry::set_status(WorkerId id, WorkerStatus status) {
  const Position position = find_id(id);
  if (position == workers_.end()) return;
  auto& current = (*position)->shared->status;
  if (current.load(std::memory_order_relaxed) == WorkerStatus::draining) return;
  current.store(status, std::memory_order_relaxed);
  set_ready_block(fleet_, id, status);
}

Result<> Registry::remove(std::string_view uuid) {
  const Position position = find_uuid(uuid);
  if (position == workers_.end()) return refusal(Errc::invalid_argument, "no such worker");
  const std::shared_ptr<Worker> worker = std::move(*position);
  workers_.erase(position);
  // Readers of the previous set see that it takes no more requests.
  worker->shared->status.store(WorkerStatus::draining, std::memory_order_relaxed);
  worker->shared->breaker.retire();
  fleet_.block(worker->id, kNotReady);
  leave_models(*worker);
  publish();
  if (options_.on_removed) options_.on_removed(worker->id);
  freed_.push_back(worker->id);
  return {};
}

Registry::Position Registry::find_uuid(std::string_view uuid) {
  return std::find_if(workers_.begin(), workers_.end(),
                      [&](const auto& worker) { return worker->uuid == uuid; });
}

Registry::Position Registry::find_id(WorkerId id) {
  return std::find_if(workers_.begin(), workers_.end(),
                      [&](const auto& worker) { return worker->id == id; });
}

}  // namespace smg::worker
