// least_load: the lowest expected wait of all eligible workers (expected_wait.hpp), with the
// user's constants. None when the waiting cap skips every worker.
#pragma once

#include "smg/policy/expected_wait.hpp"
#include "smg/policy/policy.hpp"

namespace smg::policy {

class LeastLoadPolicy final : public Policy {
 public:
  explicit LeastLoadPolicy(const ExpectedWaitOptions& options) : options_(options) {}

  std::string_view name() const noexcept override { return "least_load"; }
  bool wants_loads() const noexcept override { return true; }
  std::optional<Selection> select(const RoutingRequest& request,
                                  const Candidates& candidates) noexcept override;

 private:
  const ExpectedWaitOptions options_;
};

}  // namespace smg::policy
