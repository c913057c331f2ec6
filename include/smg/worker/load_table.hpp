// What the engines last reported, as an immutable snapshot that policies read.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "smg/base/clock.hpp"
#include "smg/base/snapshot.hpp"
#include "smg/protocol/load_report.hpp"
#include "smg/worker/fleet.hpp"

namespace smg::worker {

// One worker's load, condensed over its DP ranks.
struct WorkerLoad {
  bool reported = false;     // false: the other members mean nothing
  TimePoint at{};            // when the report arrived
  double queued_tokens = 0;  // sum of waiting uncached tokens; 0 when the engine does not say
  double waiting_requests = 0;
  double running_requests = 0;
  double throughput = 0;        // tokens/s: the highest reported in the last 5 minutes; 0 = unknown
  double kv_usage = 0;          // mean over ranks, 0..1
  protocol::LoadReport report;  // as received, for /get_loads and the engine gauges
};

// What the expected-wait scorer reads of a worker: half a cache line, side by side with the
// others'.
struct LoadSignal {
  bool reported = false;  // false: the other members mean nothing
  float kv_usage = 0;
  double queued_tokens = 0;
  double waiting_requests = 0;
  double throughput = 0;
};

// Immutable; indexed by worker id.
class LoadTable {
 public:
  // Null when the worker has none, or one older than three intervals when the table was made.
  const WorkerLoad* find(WorkerId id) const {
    return id < loads_.size() && loads_[id] && loads_[id]->reported ? loads_[id].get() : nullptr;
  }
  const LoadSignal& signal(WorkerId id) const {
    static constexpr LoadSignal kNone{};
    return id < signals_.size() ? signals_[id] : kNone;
  }
  // No worker has a report.
  bool empty() const { return signals_.empty(); }

 private:
  friend class LoadHistory;
  std::vector<std::shared_ptr<const WorkerLoad>> loads_;
  std::vector<LoadSignal> signals_;  // empty when no worker has a report
};

// Builds the tables. Control thread only.
class LoadHistory {
 public:
  explicit LoadHistory(Snapshot<LoadTable>& target) : target_(&target) {}

  // Records a report that arrived at `now` and publishes. Also clears the worker's credit in
  // `fleet`: what was dispatched before the report is in the report.
  void record(WorkerId id, protocol::LoadReport report, Fleet& fleet, TimePoint now);
  // A failed poll, or a worker that is not ready any more: no report until the next. The highest
  // throughput is remembered.
  void forget(WorkerId id);
  // A removed worker: nothing is remembered.
  void remove(WorkerId id);
  // Drops reports older than `max_age` at `now`.
  void expire(std::chrono::milliseconds max_age, TimePoint now);

 private:
  struct Peak {
    TimePoint at;
    double throughput;
  };
  double highest_throughput(WorkerId id, double reported, TimePoint now);
  void publish();

  Snapshot<LoadTable>* target_;
  std::vector<std::shared_ptr<const WorkerLoad>> loads_;
  std::vector<std::vector<Peak>> peaks_;  // per worker, decreasing throughput, newest last
};

inline constexpr std::chrono::minutes kThroughputMemory{5};

}  // namespace smg::worker
