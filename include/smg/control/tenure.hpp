// A worker's stay in the fleet, as its loops on the control thread see it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "smg/control/deps.hpp"
#include "smg/worker/health_state.hpp"

namespace smg::control {

struct Tenure {
  Tenure(asio::io_context& context, const worker::Worker& worker,
         const worker::HealthOptions& health_options)
      : id(worker.id),
        uuid(worker.uuid),
        health(health_options),
        probe_now(context),
        discover_now(context),
        poll_now(context),
        learned(context) {}

  const worker::WorkerId id;
  const std::string uuid;
  // Grows with every new spec: what was asked for under an older one does not count.
  std::uint64_t generation = 0;
  Lifetime life;  // ends when the worker starts to drain or is removed

  worker::HealthState health;
  bool was_ready = false;
  bool refused = false;  // a probe found nobody listening since the last good one

  bool discovering = false;  // a round of questions is under way
  std::uint64_t rounds = 0;  // ended ones
  bool learned_all = false;  // the last round left no question open

  std::optional<std::chrono::milliseconds> drain_settle;
  OverloadOptions overload;

  Pulse probe_now;
  Pulse discover_now;
  Pulse poll_now;
  Pulse learned;  // after each step of discovery

  // The worker as it is registered now. Only while `life` lasts.
  std::shared_ptr<const worker::Worker> worker(const Deps& deps) const {
    return deps.registry.workers().load()->at(id);
  }
};

using TenurePtr = std::shared_ptr<Tenure>;

}  // namespace smg::control
