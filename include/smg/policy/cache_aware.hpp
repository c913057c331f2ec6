// cache_aware: to a worker that probably holds the request's prefix, unless it is much busier than
// the fleet; otherwise to the lowest expected wait.
//
// Requests with token ids use the model's token tree, the others its string tree (an empty text
// matches nothing). One descent finds the longest prefix, chooses, and records the choice:
//   matched / length > cache_threshold (strict, as float): the eligible holders are the candidates.
//     Those that are not hot (spill_gate.hpp): lowest expected wait among them.
//     All hot: lowest expected wait among the eligible workers that are not hot.
//   otherwise, or when no holder is eligible: lowest expected wait of all eligible workers.
// The scorer runs with its built-in constants. A request for any model uses the trees of its first
// eligible worker's model. Everything that is proportional to the number of workers is done before
// the tree is locked, save the rare spill whose best worker is hot itself.
#pragma once

#include <cstdint>

#include "smg/base/log.hpp"
#include "smg/policy/policy.hpp"
#include "smg/policy/prefix_indexes.hpp"
#include "smg/policy/spill_gate.hpp"

namespace smg::policy {

struct CacheAwareOptions {
  float cache_threshold = 0.3F;              // 0..1; a match ratio must exceed it
  std::uint32_t balance_abs_threshold = 64;  // requests above the fleet mean
  double balance_rel_threshold = 1.5;        // multiple of the fleet mean, >= 1
  std::uint64_t eviction_interval_s = 120;   // > 0
  std::uint64_t max_tree_size = 67'108'864;  // units per model and tree, > 0
  std::uint32_t block_size = 16;             // tokens, > 0
};

// What came of a request: its prefix was matched and a reported holder won; it was matched and
// another worker won; it was not matched; no worker was found.
enum class Branch : std::uint8_t {
  tree_match,
  spill,
  expected_wait_fallback,
  first_healthy_fallback
};
const char* to_string(Branch branch);

// Tells of cache-aware decisions: the metrics layer listens. Called on I/O threads.
struct CacheAwareObserver {
  virtual ~CacheAwareObserver() = default;
  virtual void on_decision(Branch branch, double match_ratio) noexcept = 0;
};

class CacheAwarePolicy final : public Policy {
 public:
  // `indexes` and `observer` must outlive the policy.
  CacheAwarePolicy(const CacheAwareOptions& options, PrefixIndexes& indexes,
                   CacheAwareObserver& observer);

  std::string_view name() const noexcept override { return "cache_aware"; }
  bool wants_key() const noexcept override { return true; }
  bool wants_loads() const noexcept override { return true; }
  std::optional<Selection> select(const RoutingRequest& request,
                                  const Candidates& candidates) noexcept override;
  // Purges the worker from every tree.
  void on_worker_removed(WorkerId id) noexcept override;

 private:
  const float threshold_;
  const double threshold_shown_;
  const SpillGate gate_;
  PrefixIndexes& indexes_;
  CacheAwareObserver& observer_;
  log::Target& log_;
};

}  // namespace smg::policy
