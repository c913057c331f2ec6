#include "smg/policy/factory.hpp"

#include "smg/policy/least_load.hpp"
#include "smg/policy/passthrough.hpp"
#include "smg/policy/random.hpp"
#include "smg/policy/round_robin.hpp"

namespace smg::policy {

const std::vector<std::string_view>& policy_names() {
  static const std::vector<std::string_view> names = {"cache_aware", "round_robin", "random",
                                                      "least_load", "passthrough"};
  return names;
}

std::unique_ptr<Policy> make_policy(const PolicyOptions& options, PrefixIndexes& indexes,
                                    CacheAwareObserver& observer) {
  if (options.name == "cache_aware") {
    return std::make_unique<CacheAwarePolicy>(options.cache_aware, indexes, observer);
  }
  if (options.name == "round_robin") return std::make_unique<RoundRobinPolicy>();
  if (options.name == "random") return std::make_unique<RandomPolicy>();
  if (options.name == "least_load") return std::make_unique<LeastLoadPolicy>(options.least_load);
  if (options.name == "passthrough") return std::make_unique<PassthroughPolicy>();
  return nullptr;
}

}  // namespace smg::policy
