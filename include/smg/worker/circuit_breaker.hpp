// Per-worker circuit breaker.
//
// closed -> open when `failure_threshold` consecutive failures fall within `window`; open ->
// half_open once `timeout` has passed; half_open lets `success_threshold` requests through at a
// time, closes after that many successes, opens again at one failure. Any success resets the
// failure count. Neutral outcomes change no count but free their half-open place. Thread-safe: a
// short mutex, taken only with an outcome or while not closed.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>

#include "smg/base/clock.hpp"

namespace smg::worker {

struct BreakerOptions {
  std::uint32_t failure_threshold = 10;  // >= 1
  std::uint32_t success_threshold = 3;   // >= 1
  std::chrono::seconds timeout{60};      // > 0
  std::chrono::seconds window{120};      // > 0
  bool disabled = false;                 // counts outcomes, never opens
};

enum class BreakerState : std::uint8_t { closed = 0, open = 1, half_open = 2 };
enum class Outcome : std::uint8_t { success, failure, neutral };

class CircuitBreaker {
 public:
  // `on_transition` runs under the lock with (from, to): it keeps the fleet's block bit and the
  // transition counters in step. It must not call back.
  using OnTransition = std::function<void(BreakerState, BreakerState)>;
  CircuitBreaker(const BreakerOptions& options, OnTransition on_transition);

  // Whether a request would be let through at `now`. Takes no place.
  bool would_admit(TimePoint now) const;

  // Takes a place for one request; false if none is free. While closed always true.
  // Each admitted request must report exactly one outcome.
  bool admit(TimePoint now);
  void record(Outcome outcome, TimePoint now);

  BreakerState state() const;
  std::uint32_t consecutive_failures() const;
  std::uint32_t consecutive_successes() const;
  // How many outcomes of each kind were recorded: success, failure, neutral.
  std::array<std::uint64_t, 3> outcomes() const;
  // How often each transition [from][to] happened.
  std::array<std::array<std::uint64_t, 3>, 3> transitions() const;

 private:
  void change(BreakerState to, TimePoint now);

  const BreakerOptions options_;
  const OnTransition on_transition_;
  mutable std::mutex mutex_;
  BreakerState state_ = BreakerState::closed;
  TimePoint changed_{};
  TimePoint first_failure_{};
  std::uint32_t failures_ = 0;
  std::uint32_t successes_ = 0;
  std::uint32_t trials_ = 0;  // half-open requests without an outcome yet
  std::array<std::uint64_t, 3> outcomes_{};
  std::array<std::array<std::uint64_t, 3>, 3> transitions_{};
};

}  // namespace smg::worker
