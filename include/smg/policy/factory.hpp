// Makes a policy by its command-line name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "smg/policy/expected_wait.hpp"
#include "smg/policy/policy.hpp"
#include "smg/policy/prefix_indexes.hpp"

namespace smg::policy {

struct CacheAwareOptions {
  float cache_threshold = 0.3F;            // 0..1; a match ratio must exceed it
  std::uint32_t balance_abs_threshold = 64;  // requests above the fleet mean
  double balance_rel_threshold = 1.5;        // multiple of the fleet mean, >= 1
  std::uint64_t eviction_interval_s = 120;   // > 0
  std::uint64_t max_tree_size = 67'108'864;  // units per model and tree, > 0
  std::uint32_t block_size = 16;             // tokens, > 0
};

struct PolicyOptions {
  std::string name = "cache_aware";
  CacheAwareOptions cache_aware;
  ExpectedWaitOptions least_load;  // for --policy least_load only
};

// Tells of cache-aware decisions: the metrics layer listens. Called on I/O threads.
enum class Branch : std::uint8_t { tree_match, spill, expected_wait_fallback, first_healthy_fallback };
const char* to_string(Branch branch);
struct CacheAwareObserver {
  virtual ~CacheAwareObserver() = default;
  virtual void on_decision(Branch branch, double match_ratio) noexcept = 0;
};

// The names make_policy knows.
const std::vector<std::string_view>& policy_names();

// `indexes` and `observer` are used by cache_aware and must outlive the policy. Null for a name
// that is not in policy_names().
std::unique_ptr<Policy> make_policy(const PolicyOptions& options, PrefixIndexes& indexes,
                                    CacheAwareObserver& observer);

}  // namespace smg::policy
