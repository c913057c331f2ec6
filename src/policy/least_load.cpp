#include "smg/policy/least_load.hpp"

namespace smg::policy {

std::optional<Selection> LeastLoadPolicy::select(const RoutingRequest& request,
                                                 const Candidates& candidates) noexcept {
  const auto choice = choose_expected_wait(candidates.eligible, candidates, options_);
  if (!choice) return std::nullopt;
  book(candidates, *choice, prompt_tokens(request, options_));
  return Selection{choice->worker};
}

}  // namespace smg::policy
