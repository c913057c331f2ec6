#include "smg/policy/random.hpp"

#include "smg/policy/random_engine.hpp"

namespace smg::policy {

std::optional<Selection> RandomPolicy::select(const RoutingRequest&,
                                              const Candidates& candidates) noexcept {
  if (candidates.eligible.empty()) return std::nullopt;
  const auto count = static_cast<std::uint32_t>(candidates.eligible.size());
  return Selection{candidates.eligible[thread_random().below(count)]};
}

}  // namespace smg::policy
