// Which workers there are, published as immutable snapshots.
//
// Mutators are called on the control thread only; workers() is read from anywhere. An id is dense
// and is given to another worker only after all never-used ids and after it has been purged from
// the indexes a second time (a request that chose it before the removal may still have recorded it).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "smg/base/error.hpp"
#include "smg/base/snapshot.hpp"
#include "smg/base/string_map.hpp"
#include "smg/worker/fleet.hpp"
#include "smg/worker/worker.hpp"

namespace smg::worker {

struct Model {
  std::string id;                 // canonical
  std::vector<WorkerId> workers;  // in registration order, whatever their state
};

// Immutable.
class WorkerSet {
 public:
  // Exact id, then alias. Null when no worker serves it.
  const Model* find_model(std::string_view name) const;
  // All workers in registration order: where a request without a model goes.
  const Model& any() const { return any_; }
  const std::vector<std::shared_ptr<const Model>>& models() const { return models_; }

  const std::shared_ptr<const Worker>& at(WorkerId id) const { return by_id_[id]; }
  std::shared_ptr<const Worker> find_uuid(std::string_view uuid) const;
  std::shared_ptr<const Worker> find_url(std::string_view url) const;
  std::size_t size() const { return any_.workers.size(); }
  bool empty() const { return any_.workers.empty(); }

 private:
  friend class Registry;
  std::vector<std::shared_ptr<const Worker>> by_id_;  // holes are null
  Model any_{"unknown", {}};
  std::vector<std::shared_ptr<const Model>> models_;          // by canonical id, sorted
  StringMap<std::shared_ptr<const Model>> model_by_name_;     // ids and aliases
};

class Registry {
 public:
  struct Options {
    BreakerOptions breaker;  // defaults for workers whose spec has none
    // Called on the control thread when a worker leaves, before its id can be used again, and a
    // second time when its id is taken again.
    std::function<void(WorkerId)> on_removed;
    // Called with every breaker transition, on whichever thread caused it.
    std::function<void(const std::string& url, BreakerState from, BreakerState to)> on_transition;
  };

  Registry(Fleet& fleet, Options options);

  const Snapshot<WorkerSet>& workers() const { return snapshot_; }

  // A worker with status pending. Fails if the URL is registered or kMaxWorkers are.
  Result<std::shared_ptr<const Worker>> add(WorkerSpec spec);
  // A new spec for a registered URL; discovered facts, counters and status stay; the breaker stays
  // when its options are equal.
  Result<std::shared_ptr<const Worker>> replace(std::string_view uuid, WorkerSpec spec);
  Result<> set_discovered(WorkerId id, Discovered discovered);
  void set_status(WorkerId id, WorkerStatus status);
  // The worker is gone at once from the snapshot; tickets on it stay valid.
  Result<> remove(std::string_view uuid);

 private:
  void publish();
  Result<WorkerId> take_id();

  Fleet& fleet_;
  Options options_;
  Snapshot<WorkerSet> snapshot_;
  std::vector<std::shared_ptr<Worker>> workers_;  // registration order
  WorkerId next_unused_ = 0;
  std::vector<WorkerId> freed_;  // oldest first
};

}  // namespace smg::worker
