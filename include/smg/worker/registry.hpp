// Which workers there are, published as immutable snapshots.
//
// Mutators are called on the control thread only; workers() is read from anywhere. An id is dense
// and is given to another worker only after all never-used ids and after it has been purged from
// the indexes a second time (a request that chose it before the removal may still have recorded
// it), and only once no request of its former worker is in flight. Every mutator publishes before
// it returns; one costs O(workers) copies, and work on strings only for the worker it changes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
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
  // An alias that two models claim belongs to the one whose worker registered first.
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
  std::vector<std::shared_ptr<const Model>> models_;  // by canonical id, sorted
  // Ids and aliases, as places in models_. Shared by all sets with the same names.
  std::shared_ptr<const StringMap<std::uint32_t>> names_ =
      std::make_shared<const StringMap<std::uint32_t>>();
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

  // `fleet` must outlive the registry and every ticket; tickets may outlive the registry.
  Registry(Fleet& fleet, Options options);
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  const Snapshot<WorkerSet>& workers() const { return snapshot_; }

  // A worker with status pending (ready if its spec disables health checks). Errc::invalid_argument
  // if the URL is registered, Errc::unavailable if kMaxWorkers are.
  Result<std::shared_ptr<const Worker>> add(WorkerSpec spec);
  // A new spec for a registered URL; discovered facts, counters and status stay; the breaker stays
  // when its options are equal. Errc::invalid_argument for an unknown uuid or another URL.
  Result<std::shared_ptr<const Worker>> replace(std::string_view uuid, WorkerSpec spec);
  Result<> set_discovered(WorkerId id, Discovered discovered);
  // Draining is final: a late health probe does not bring the worker back.
  void set_status(WorkerId id, WorkerStatus status);
  // The worker is gone at once from the snapshot; tickets on it stay valid.
  Result<> remove(std::string_view uuid);

 private:
  using Position = std::vector<std::shared_ptr<Worker>>::iterator;

  Result<WorkerId> take_id();
  Position find_uuid(std::string_view uuid);
  Position find_id(WorkerId id);
  std::shared_ptr<Worker::Shared> make_shared_state(const WorkerSpec& spec, WorkerId id);
  void exchange(Position old, std::shared_ptr<Worker> next);

  void join_models(const Worker& worker);
  void leave_models(const Worker& worker);
  void rebuild_names();
  void publish();

  Fleet& fleet_;
  Options options_;
  Snapshot<WorkerSet> snapshot_;
  std::vector<std::shared_ptr<Worker>> workers_;  // registration order
  WorkerId next_unused_ = 0;
  std::vector<WorkerId> freed_;  // oldest first

  // What the next set is made of, kept from one to the next.
  std::uint64_t registrations_ = 0;
  std::vector<std::uint64_t> order_;  // by id: which registration
  std::map<std::string, std::shared_ptr<const Model>, std::less<>> models_;
  std::shared_ptr<const StringMap<std::uint32_t>> names_;
  bool names_changed_ = false;
};

}  // namespace smg::worker
