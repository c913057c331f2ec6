#include "smg/policy/passthrough.hpp"

#include "smg/base/log.hpp"

namespace smg::policy {

std::optional<Selection> PassthroughPolicy::select(const RoutingRequest&,
                                                   const Candidates& candidates) noexcept {
  if (candidates.eligible.empty()) return std::nullopt;
  if (candidates.eligible.size() > 1 && !warned_.load(std::memory_order_relaxed) &&
      !warned_.exchange(true)) {
    log::write(log::target("smg::policies::passthrough"), log::Level::warn,
               "The passthrough policy uses only the first of several workers",
               {{"workers", std::uint64_t{candidates.eligible.size()}}});
  }
  return Selection{candidates.eligible.front()};
}

}  // namespace smg::policy
