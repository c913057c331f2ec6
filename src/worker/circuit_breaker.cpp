#include "smg/worker/circuit_breaker.hpp"

#include <utility>

namespace smg::worker {
namespace {

constexpr std::uint32_t kStateMask = 3;
constexpr std::uint32_t kOneTransition = 4;

BreakerState state_of(std::uint32_t stamp) { return static_cast<BreakerState>(stamp & kStateMask); }

}  // namespace

const char* to_string(BreakerState state) {
  switch (state) {
    case BreakerState::closed:
      return "closed";
    case BreakerState::open:
      return "open";
    case BreakerState::half_open:
      return "half_open";
  }
  return "";
}

CircuitBreaker::CircuitBreaker(const BreakerOptions& options, OnTransition on_transition)
    : options_(options), on_transition_(std::move(on_transition)) {}

bool CircuitBreaker::would_admit(TimePoint now) const {
  if (state() == BreakerState::closed) return true;
  const std::lock_guard lock(mutex_);
  switch (state()) {
    case BreakerState::closed:
      return true;
    case BreakerState::open:
      return now - changed_ >= options_.timeout;
    case BreakerState::half_open:
      return trials_ < options_.success_threshold;
  }
  return false;
}

std::optional<CircuitBreaker::Admission> CircuitBreaker::admit(TimePoint now) {
  const std::uint32_t seen = stamp_.load(std::memory_order_relaxed);
  if (state_of(seen) == BreakerState::closed) return Admission{seen};

  const std::lock_guard lock(mutex_);
  if (state() == BreakerState::open) {
    if (now - changed_ < options_.timeout) return std::nullopt;
    change(BreakerState::half_open, now);
  }
  if (state() == BreakerState::half_open) {
    if (trials_ >= options_.success_threshold) return std::nullopt;
    ++trials_;
  }
  return Admission{stamp_.load(std::memory_order_relaxed)};
}

void CircuitBreaker::record(Outcome outcome, Admission admission, TimePoint now) {
  const std::lock_guard lock(mutex_);
  ++outcomes_[static_cast<std::size_t>(outcome)];
  if (admission != Admission{stamp_.load(std::memory_order_relaxed)}) return;

  const bool half_open = state() == BreakerState::half_open;
  if (half_open) --trials_;
  switch (outcome) {
    case Outcome::neutral:
      return;
    case Outcome::success:
      failures_ = 0;
      recent_failures_.clear();
      ++successes_;
      if (half_open && successes_ >= options_.success_threshold) change(BreakerState::closed, now);
      return;
    case Outcome::failure:
      successes_ = 0;
      count_failure(now);
      return;
  }
}

void CircuitBreaker::count_failure(TimePoint now) {
  ++failures_;
  if (options_.disabled) return;
  if (state() == BreakerState::half_open) {
    change(BreakerState::open, now);
    return;
  }
  recent_failures_.push_back(now);
  while (now - recent_failures_.front() > options_.window) recent_failures_.pop_front();
  if (recent_failures_.size() >= options_.failure_threshold) change(BreakerState::open, now);
}

void CircuitBreaker::change(BreakerState to, TimePoint now) {
  const std::uint32_t stamp = stamp_.load(std::memory_order_relaxed);
  const BreakerState from = state_of(stamp);
  stamp_.store(((stamp & ~kStateMask) + kOneTransition) | static_cast<std::uint32_t>(to),
               std::memory_order_relaxed);
  changed_ = now;
  recent_failures_.clear();
  successes_ = 0;
  trials_ = 0;
  // While open the count shows what opened it; it starts anew with the trials.
  if (to != BreakerState::open) failures_ = 0;
  ++transitions_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  if (on_transition_) on_transition_(from, to);
}

void CircuitBreaker::retire() {
  const std::lock_guard lock(mutex_);
  on_transition_ = nullptr;
}

BreakerState CircuitBreaker::state() const {
  return state_of(stamp_.load(std::memory_order_relaxed));
}

std::uint32_t CircuitBreaker::consecutive_failures() const {
  const std::lock_guard lock(mutex_);
  return failures_;
}

std::uint32_t CircuitBreaker::consecutive_successes() const {
  const std::lock_guard lock(mutex_);
  return successes_;
}

std::array<std::uint64_t, 3> CircuitBreaker::outcomes() const {
  const std::lock_guard lock(mutex_);
  return outcomes_;
}

std::array<std::array<std::uint64_t, 3>, 3> CircuitBreaker::transitions() const {
  const std::lock_guard lock(mutex_);
  return transitions_;
}

}  // namespace smg::worker
