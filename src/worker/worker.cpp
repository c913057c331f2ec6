#include "smg/worker/worker.hpp"

#include <utility>

namespace smg::worker {

const std::vector<ModelCard>& Worker::models() const {
  return spec.models.empty() ? discovered.models : spec.models;
}

const std::string& Worker::model_id() const {
  static const std::string unknown = "unknown";
  return models().empty() ? unknown : models().front().id;
}

const std::string& Worker::runtime() const {
  static const std::string generic = "generic";
  if (!spec.runtime.empty()) return spec.runtime;
  return discovered.runtime.empty() ? generic : discovered.runtime;
}

std::optional<Ticket> Ticket::acquire(Fleet& fleet, std::shared_ptr<const Worker> worker,
                                      TimePoint now) {
  const auto admission = worker->shared->breaker.admit(now);
  if (!admission) return std::nullopt;
  fleet.begin_request(worker->id);
  worker->shared->requests_total.fetch_add(1, std::memory_order_relaxed);
  return Ticket(fleet, std::move(worker), *admission);
}

Ticket::Ticket(Fleet& fleet, std::shared_ptr<const Worker> worker,
               CircuitBreaker::Admission admission)
    : fleet_(&fleet), worker_(std::move(worker)), admission_(admission) {}

Ticket::Ticket(Ticket&& other) noexcept = default;

Ticket& Ticket::operator=(Ticket&& other) noexcept {
  if (this != &other) {
    release();
    fleet_ = other.fleet_;
    worker_ = std::move(other.worker_);
    admission_ = other.admission_;
    outcome_ = other.outcome_;
    outcome_at_ = other.outcome_at_;
  }
  return *this;
}

Ticket::~Ticket() { release(); }

void Ticket::release() noexcept {
  if (!worker_) return;
  fleet_->end_request(worker_->id);
  worker_->shared->breaker.record(outcome_, admission_, outcome_at_);
  worker_.reset();
}

}  // namespace smg::worker
