// passthrough: the first eligible worker in registration order, for fleets of one. Warns once when
// there are more.
#pragma once

#include <atomic>

#include "smg/policy/policy.hpp"

namespace smg::policy {

class PassthroughPolicy final : public Policy {
 public:
  std::string_view name() const noexcept override { return "passthrough"; }
  std::optional<Selection> select(const RoutingRequest& request,
                                  const Candidates& candidates) noexcept override;

 private:
  std::atomic<bool> warned_{false};
};

}  // namespace smg::policy
