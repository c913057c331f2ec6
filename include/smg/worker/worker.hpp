// One inference worker: what it is (immutable) and its breaker. Live counters are in Fleet.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smg/base/url.hpp"
#include "smg/worker/circuit_breaker.hpp"
#include "smg/worker/fleet.hpp"
#include "smg/worker/health_state.hpp"

namespace smg::worker {

struct ModelCard {
  std::string id;
  std::vector<std::string> aliases;
  std::optional<std::uint64_t> context_length;  // tokens
};

// What a user says of a worker: a --worker-urls entry or the body of POST /workers.
struct WorkerSpec {
  Url url;
  std::string api_key;            // secret: never logged, never shown
  std::string runtime;            // sglang, vllm, trtllm, llamacpp, generic ...; empty: discover
  std::vector<ModelCard> models;  // empty: discover
  std::map<std::string, std::string> labels;
  std::uint32_t priority = 50;
  double cost = 1.0;
  std::optional<HealthOptions> health;
  std::optional<BreakerOptions> breaker;
  std::optional<std::chrono::seconds> load_monitor_interval;
};

// What the worker said of itself. Refreshed by discovery; published as a new Worker.
struct Discovered {
  std::string runtime;  // "generic" until known
  std::vector<ModelCard> models;
  std::map<std::string, std::string> labels;
};

class Worker {
 public:
  // State that outlives a replacement of the same URL's spec: breaker and health.
  struct Shared {
    Shared(const BreakerOptions& breaker_options, CircuitBreaker::OnTransition on_transition)
        : breaker(breaker_options, std::move(on_transition)) {}
    CircuitBreaker breaker;
    std::atomic<WorkerStatus> status{WorkerStatus::pending};
    std::atomic<std::uint64_t> requests_total{0};
  };

  WorkerId id = kNoWorker;
  std::string uuid;  // stable per URL
  WorkerSpec spec;
  Discovered discovered;
  std::uint64_t revision = 0;  // grows with every replacement
  std::shared_ptr<Shared> shared;

  const std::string& url() const { return spec.url.text; }
  // spec.models if given, else what was discovered.
  const std::vector<ModelCard>& models() const;
  // First model's id, or "unknown".
  const std::string& model_id() const;
  const std::string& runtime() const;
  WorkerStatus status() const { return shared->status.load(std::memory_order_relaxed); }
};

// One request on one worker: counts it in flight from choice until destruction, and reports exactly
// one outcome to the breaker (neutral unless told otherwise). Move-only. Release one ticket before
// another on the same worker is acquired for a retry: it may hold the half-open place.
class Ticket {
 public:
  // Empty when the breaker let nothing through at `now`. `worker` is not null.
  static std::optional<Ticket> acquire(Fleet& fleet, std::shared_ptr<const Worker> worker,
                                       TimePoint now);
  Ticket(Ticket&&) noexcept;
  Ticket& operator=(Ticket&&) noexcept;
  ~Ticket();

  const Worker& worker() const { return *worker_; }
  const std::shared_ptr<const Worker>& worker_ptr() const { return worker_; }
  // What the request came to, and when; the last call counts. Reported at destruction.
  void set_outcome(Outcome outcome, TimePoint at = Clock::now()) {
    outcome_ = outcome;
    outcome_at_ = at;
  }

 private:
  Ticket(Fleet& fleet, std::shared_ptr<const Worker> worker, CircuitBreaker::Admission admission);
  void release() noexcept;

  Fleet* fleet_;
  std::shared_ptr<const Worker> worker_;  // null after a move
  CircuitBreaker::Admission admission_;
  Outcome outcome_ = Outcome::neutral;
  TimePoint outcome_at_{};  // a neutral outcome needs none
};

}  // namespace smg::worker
