// Polls ready workers for their load and publishes it. Control thread.
//
// The first poll follows at once when a worker becomes ready, then one per interval, measured from
// the end of a poll. A failed poll, or one of a worker that is not ready any more, leaves no
// report; a report older than three intervals counts as none. Also sets and clears the overload
// block.
#pragma once

#include <chrono>

#include "smg/control/deps.hpp"
#include "smg/control/load_sources.hpp"
#include "smg/control/tenure.hpp"

namespace smg::control {

class LoadMonitor {
 public:
  static constexpr std::chrono::milliseconds kPollTimeout{5000};
  static constexpr std::chrono::milliseconds kExpiryPeriod{1000};

  explicit LoadMonitor(Deps& deps);

  bool enabled() const { return enabled_; }
  // The worker's loop: until its life ends.
  awaitable<void> run(TenurePtr tenure);
  // Drops old reports, until `life` ends.
  awaitable<void> run_expiry(Lifetime& life);

 private:
  struct Poller {
    LoadSources sources;
    TokenRate prompt_rate;
  };
  // A report without rows: the worker did not tell.
  awaitable<protocol::LoadReport> poll(TenurePtr tenure, Poller* poller);
  void take(Tenure& tenure, protocol::LoadReport report);
  std::chrono::milliseconds interval_of(const worker::Worker& worker) const;
  std::chrono::milliseconds longest_interval() const;

  Deps& deps_;
  bool enabled_;
};

// Whether the report reaches one of the limits.
bool overloaded(const protocol::LoadReport& report, const OverloadOptions& limits);

}  // namespace smg::control
