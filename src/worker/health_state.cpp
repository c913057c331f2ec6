#include "smg/worker/health_state.hpp"

#include <algorithm>

namespace smg::worker {
namespace {

constexpr std::chrono::seconds kFirstRetry{1};
// 2^20 s is beyond any interval; a larger shift would only overflow.
constexpr std::uint32_t kMaxDoublings = 20;

}  // namespace

const char* to_string(WorkerStatus status) {
  switch (status) {
    case WorkerStatus::pending:
      return "pending";
    case WorkerStatus::ready:
      return "ready";
    case WorkerStatus::not_ready:
      return "not_ready";
    case WorkerStatus::failed:
      return "failed";
    case WorkerStatus::draining:
      return "draining";
  }
  return "unknown";
}

HealthState::HealthState(const HealthOptions& options)
    : options_(options), status_(options.disabled ? WorkerStatus::ready : WorkerStatus::pending) {}

WorkerStatus HealthState::record(bool healthy) {
  if (options_.disabled) return status_;
  if (healthy) {
    record_success();
  } else {
    record_failure();
  }
  return status_;
}

void HealthState::record_success() {
  failures_ = 0;
  down_probes_ = 0;
  if (status_ == WorkerStatus::ready) return;
  ++successes_;
  if (status_ == WorkerStatus::pending || successes_ >= options_.success_threshold) {
    enter(WorkerStatus::ready);
  }
}

void HealthState::record_failure() {
  successes_ = 0;
  ++failures_;
  const std::uint64_t threshold = std::max(options_.failure_threshold, 1U);
  switch (status_) {
    case WorkerStatus::pending:
      if (failures_ >= 10 * threshold) enter(WorkerStatus::failed);
      break;
    case WorkerStatus::ready:
      if (failures_ >= threshold) enter(WorkerStatus::not_ready);
      break;
    case WorkerStatus::not_ready:
      if (failures_ >= 3 * threshold) enter(WorkerStatus::failed);
      break;
    case WorkerStatus::failed:
    case WorkerStatus::draining:
      break;
  }
  if (status_ != WorkerStatus::ready) ++down_probes_;
}

void HealthState::enter(WorkerStatus status) {
  status_ = status;
  failures_ = 0;
  successes_ = 0;
}

std::chrono::milliseconds HealthState::next_delay() const {
  if (status_ == WorkerStatus::ready) return options_.interval;
  const std::uint32_t doublings = std::min(std::max(down_probes_, 1U) - 1, kMaxDoublings);
  return std::min<std::chrono::seconds>(kFirstRetry * (1U << doublings), options_.interval);
}

}  // namespace smg::worker
