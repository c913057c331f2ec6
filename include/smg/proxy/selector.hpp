// From a request to a worker: the model's workers, less those that take nothing now or have failed
// this request, then the policy's choice, then a ticket on it. One per I/O thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "smg/base/snapshot.hpp"
#include "smg/policy/policy.hpp"
#include "smg/worker/registry.hpp"

namespace smg::proxy {

class Selector {
 public:
  Selector(const Snapshot<worker::WorkerSet>& workers, const Snapshot<worker::LoadTable>& loads,
           worker::Fleet& fleet, policy::Policy& policy);

  enum class Status : std::uint8_t {
    ok,
    model_not_found,  // workers are registered, none of them serves the model
    unavailable       // nobody can take it now, or no worker at all
  };
  struct Choice {
    Status status = Status::unavailable;
    std::optional<worker::Ticket> ticket;  // with Status::ok
    std::string_view model;  // canonical id, "unknown" for any; valid until the next call
  };

  // `request.model` is what the client named, "" or "unknown" for any worker; the policy is given
  // the canonical id. Workers in `excluded` are not chosen.
  Choice choose(policy::RoutingRequest request, std::span<const policy::WorkerId> excluded);

  policy::Policy& policy() { return policy_; }

 private:
  const worker::Model* find(std::string_view name);
  void collect(const worker::Model& model, std::span<const policy::WorkerId> excluded,
               TimePoint now);

  SnapshotReader<worker::WorkerSet> workers_;
  SnapshotReader<worker::LoadTable> loads_;
  worker::Fleet& fleet_;
  policy::Policy& policy_;
  std::vector<policy::WorkerId> eligible_;  // of the current choice
};

}  // namespace smg::proxy
