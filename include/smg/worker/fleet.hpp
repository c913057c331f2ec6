// Live state of every worker, as compact arrays indexed by dense worker id: a selection is one pass
// over them. All members are relaxed atomics and may be used from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace smg::worker {

using WorkerId = std::uint16_t;
inline constexpr WorkerId kNoWorker = 0xFFFF;

// Workers registered at one time; one more is refused.
inline constexpr std::size_t kMaxWorkers = 8192;

// Reasons for which a worker takes no new request, as bits. Zero: eligible.
enum Block : std::uint8_t {
  kNotReady = 1,   // status other than ready (pending, not_ready, failed, draining)
  kBreaker = 2,    // circuit breaker open or half-open: ask CircuitBreaker::would_admit
  kOverloaded = 4  // worker overload protection
};

class Fleet {
 public:
  Fleet();

  // Requests of this gateway between choice and last byte. What policies call load.
  std::uint32_t in_flight(WorkerId id) const {
    return slots_[id].in_flight.load(std::memory_order_relaxed);
  }
  void begin_request(WorkerId id) { slots_[id].in_flight.fetch_add(1, std::memory_order_relaxed); }
  void end_request(WorkerId id) { slots_[id].in_flight.fetch_sub(1, std::memory_order_relaxed); }

  std::uint8_t blocked(WorkerId id) const {
    return slots_[id].blocked.load(std::memory_order_relaxed);
  }
  void block(WorkerId id, Block reason) {
    slots_[id].blocked.fetch_or(reason, std::memory_order_relaxed);
  }
  void unblock(WorkerId id, Block reason) {
    slots_[id].blocked.fetch_and(static_cast<std::uint8_t>(~reason), std::memory_order_relaxed);
  }

  // Work dispatched since the worker's last load report: tokens and requests.
  std::uint64_t credit_tokens(WorkerId id) const {
    return slots_[id].credit_tokens.load(std::memory_order_relaxed);
  }
  std::uint32_t credit_requests(WorkerId id) const {
    return slots_[id].credit_requests.load(std::memory_order_relaxed);
  }
  void add_credit(WorkerId id, std::uint64_t tokens) {
    slots_[id].credit_tokens.fetch_add(tokens, std::memory_order_relaxed);
    slots_[id].credit_requests.fetch_add(1, std::memory_order_relaxed);
  }
  void clear_credit(WorkerId id) {
    slots_[id].credit_tokens.store(0, std::memory_order_relaxed);
    slots_[id].credit_requests.store(0, std::memory_order_relaxed);
  }

  // How often the worker has won a tie between equally good workers, on a scale that the
  // expected-wait scorer keeps: see expected_wait.hpp.
  std::uint64_t turn(WorkerId id) const { return slots_[id].turn.load(std::memory_order_relaxed); }
  void set_turn(WorkerId id, std::uint64_t turn) {
    slots_[id].turn.store(turn, std::memory_order_relaxed);
  }

  // Prepares a slot for a new worker: blocked as not ready, no credit, no turn. Requests in flight
  // are left alone: whoever counted them up will count them down.
  void reset(WorkerId id);

 private:
  struct Slot {
    std::atomic<std::uint32_t> in_flight{0};
    std::atomic<std::uint32_t> credit_requests{0};
    std::atomic<std::uint64_t> credit_tokens{0};
    std::atomic<std::uint64_t> turn{0};
    std::atomic<std::uint8_t> blocked{kNotReady};
  };
  std::unique_ptr<Slot[]> slots_;  // kMaxWorkers
};

}  // namespace smg::worker
