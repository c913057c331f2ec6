// round_robin: each set of eligible workers is gone through in registration order by a counter of
// its own, so that sets which alternate (models, retries without a failed worker) do not skew each
// other. At most kMaxSets counters are kept, least recently used dropped first. A new set starts
// where a shared number says, which moves on with each: short-lived sets do not all begin with the
// same worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <unordered_map>

#include "smg/policy/policy.hpp"

namespace smg::policy {

class RoundRobinPolicy final : public Policy {
 public:
  static constexpr std::size_t kMaxSets = 4096;

  std::string_view name() const noexcept override { return "round_robin"; }
  std::optional<Selection> select(const RoutingRequest& request,
                                  const Candidates& candidates) noexcept override;

 private:
  struct Counter {
    std::uint64_t set;  // hash of the worker ids
    std::uint64_t next;
  };
  std::uint64_t take(std::uint64_t set);

  std::mutex mutex_;
  std::list<Counter> counters_;  // most recently used first
  std::unordered_map<std::uint64_t, std::list<Counter>::iterator> by_set_;
  std::uint64_t next_start_ = 0;
};

}  // namespace smg::policy
