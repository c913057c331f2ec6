#include "smg/policy/round_robin.hpp"

#include <cstring>
#include <iterator>

namespace smg::policy {
namespace {

constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15ULL;

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * kMultiplier;
  return hash ^ (hash >> 32);
}

// Of the ids and their order, four at a time.
std::uint64_t hash_of(std::span<const WorkerId> ids) {
  std::uint64_t hash = mix(kMultiplier, ids.size());
  while (ids.size() >= 4) {
    std::uint64_t word = 0;
    std::memcpy(&word, ids.data(), sizeof word);
    hash = mix(hash, word);
    ids = ids.subspan(4);
  }
  for (const WorkerId id : ids) hash = mix(hash, id);
  return hash;
}

}  // namespace

std::optional<Selection> RoundRobinPolicy::select(const RoutingRequest&,
                                                  const Candidates& candidates) noexcept {
  const auto ids = candidates.eligible;
  if (ids.empty()) return std::nullopt;
  return Selection{ids[take(hash_of(ids)) % ids.size()]};
}

std::uint64_t RoundRobinPolicy::take(std::uint64_t set) {
  const std::lock_guard lock(mutex_);
  const auto found = by_set_.find(set);
  if (found != by_set_.end()) {
    counters_.splice(counters_.begin(), counters_, found->second);
    return counters_.front().next++;
  }
  if (counters_.size() >= kMaxSets) {
    by_set_.erase(counters_.back().set);
    counters_.splice(counters_.begin(), counters_, std::prev(counters_.end()));
  } else {
    counters_.emplace_front();
  }
  counters_.front() = {set, next_start_++};
  by_set_.emplace(set, counters_.begin());
  return counters_.front().next++;
}

}  // namespace smg::policy
