// Per-worker circuit breaker.
//
// closed -> open when `failure_threshold` failures in a row fall within `window`; open -> half_open
// at the first admission once `timeout` has passed; half_open lets `success_threshold` requests
// through at a time, closes after that many successes, opens again at one failure. Any success
// resets the failure count. Neutral outcomes change no count but free their half-open place. An
// outcome of a request that was admitted before the last transition is counted, but moves nothing:
// it tells of an earlier time, and it holds no half-open place. Thread-safe: a short mutex, taken
// only with an outcome or while not closed.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include "smg/base/clock.hpp"

namespace smg::worker {

struct BreakerOptions {
  std::uint32_t failure_threshold = 10;  // >= 1
  std::uint32_t success_threshold = 3;   // >= 1
  std::chrono::seconds timeout{60};      // > 0
  std::chrono::seconds window{120};      // > 0
  bool disabled = false;                 // counts outcomes, never opens

  bool operator==(const BreakerOptions&) const = default;
};

enum class BreakerState : std::uint8_t { closed = 0, open = 1, half_open = 2 };
const char* to_string(BreakerState state);
enum class Outcome : std::uint8_t { success, failure, neutral };

class CircuitBreaker {
 public:
  // Which period between two transitions a request was admitted in.
  enum class Admission : std::uint32_t {};

  // `on_transition` runs under the lock with (from, to): it keeps the fleet's block bit and the
  // transition counters in step. It must not call back.
  using OnTransition = std::function<void(BreakerState, BreakerState)>;
  CircuitBreaker(const BreakerOptions& options, OnTransition on_transition);

  // Whether a request would be let through at `now`. Takes no place.
  bool would_admit(TimePoint now) const;

  // Takes a place for one request; empty if none is free. While closed never empty. Each admitted
  // request must report exactly one outcome, with its admission.
  std::optional<Admission> admit(TimePoint now);
  void record(Outcome outcome, Admission admission, TimePoint now);

  // Ends the calls of `on_transition`; none is running when this returns. For a breaker whose
  // worker was removed or has got another breaker, while old requests still report to this one.
  void retire();

  const BreakerOptions& options() const { return options_; }
  BreakerState state() const;
  std::uint32_t consecutive_failures() const;
  std::uint32_t consecutive_successes() const;
  // How many outcomes of each kind were recorded: success, failure, neutral.
  std::array<std::uint64_t, 3> outcomes() const;
  // How often each transition [from][to] happened.
  std::array<std::array<std::uint64_t, 3>, 3> transitions() const;

 private:
  void change(BreakerState to, TimePoint now);
  void count_failure(TimePoint now);

  const BreakerOptions options_;
  OnTransition on_transition_;
  mutable std::mutex mutex_;
  // The state in the low two bits, above them the number of transitions: one load tells both.
  // Written under the lock.
  std::atomic<std::uint32_t> stamp_{0};
  TimePoint changed_{};
  std::deque<TimePoint> recent_failures_;  // in a row, within the window; while closed
  std::uint32_t failures_ = 0;             // in a row, however old
  std::uint32_t successes_ = 0;
  std::uint32_t trials_ = 0;  // half-open requests without an outcome yet
  std::array<std::uint64_t, 3> outcomes_{};
  std::array<std::array<std::uint64_t, 3>, 3> transitions_{};
};

}  // namespace smg::worker
