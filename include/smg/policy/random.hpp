// random: uniform over the eligible workers.
#pragma once

#include "smg/policy/policy.hpp"

namespace smg::policy {

class RandomPolicy final : public Policy {
 public:
  std::string_view name() const noexcept override { return "random"; }
  std::optional<Selection> select(const RoutingRequest& request,
                                  const Candidates& candidates) noexcept override;
};

}  // namespace smg::policy
