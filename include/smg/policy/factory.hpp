// Makes a policy by its command-line name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "smg/policy/cache_aware.hpp"
#include "smg/policy/expected_wait.hpp"
#include "smg/policy/policy.hpp"
#include "smg/policy/prefix_indexes.hpp"

namespace smg::policy {

struct PolicyOptions {
  std::string name = "cache_aware";
  CacheAwareOptions cache_aware;
  ExpectedWaitOptions least_load;  // for --policy least_load only
};

// The names make_policy knows.
const std::vector<std::string_view>& policy_names();

// `indexes` and `observer` are used by cache_aware and must outlive the policy. Null for a name
// that is not in policy_names().
std::unique_ptr<Policy> make_policy(const PolicyOptions& options, PrefixIndexes& indexes,
                                    CacheAwareObserver& observer);

}  // namespace smg::policy
