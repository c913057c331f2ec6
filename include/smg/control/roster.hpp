// Who is in the fleet: registers, replaces, drains and removes workers, and starts and ends each
// one's loops. Control thread only.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "smg/base/string_map.hpp"
#include "smg/control/deps.hpp"
#include "smg/control/discovery.hpp"
#include "smg/control/health_checker.hpp"
#include "smg/control/load_monitor.hpp"
#include "smg/control/tenure.hpp"
#include "smg/control/worker_body.hpp"

namespace smg::control {

class Roster {
 public:
  // After the settle time a drain waits this long for running requests.
  static constexpr std::chrono::seconds kMaxDrain{600};

  explicit Roster(Deps& deps);

  // Errc::invalid_argument: the URL is registered; unavailable: no more workers fit.
  Result<std::shared_ptr<const worker::Worker>> add(WorkerRequest request);
  // A new spec for the same URL. Errc::invalid_argument: there is no such worker, or it drains.
  Result<> replace(std::string_view uuid, WorkerRequest request);
  // The worker's spec and settings as they are; empty: there is no such worker, or it drains.
  std::optional<WorkerRequest> current(std::string_view uuid) const;
  // A ready worker drains: no new requests from now on; it goes when the settle time is over and
  // its running requests have ended, or kMaxDrain later. Others go now. Again: nothing more.
  void remove(std::string_view uuid);

  // Ends all loops and drains.
  void stop();
  Lifetime& life() { return life_; }
  LoadMonitor& load_monitor() { return load_monitor_; }

 private:
  awaitable<void> drain(TenurePtr tenure, std::shared_ptr<const worker::Worker> worker);
  void erase(const TenurePtr& tenure, const worker::Worker& worker);

  Deps& deps_;
  Lifetime life_;
  Discovery discovery_;
  HealthChecker health_checker_;
  LoadMonitor load_monitor_;
  StringMap<TenurePtr> tenures_;  // by uuid
};

}  // namespace smg::control
