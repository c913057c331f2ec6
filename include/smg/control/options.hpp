// Settings of the control plane. Flags and ranges: docs/flags.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "smg/worker/circuit_breaker.hpp"
#include "smg/worker/health_state.hpp"

namespace smg::control {

// A worker whose last report reaches one of these takes no new request. Unset: that signal is off.
struct OverloadOptions {
  std::optional<std::uint64_t> waiting_requests;  // >= 1
  std::optional<double> token_usage;              // in (0, 1]
};

struct Options {
  worker::HealthOptions health;    // for workers whose spec has none
  worker::BreakerOptions breaker;  // what a worker's own partial settings are completed with
  OverloadOptions overload;
  // False: load is polled only when the policy reads it.
  bool load_monitoring = true;
  bool policy_wants_loads = false;
  std::chrono::milliseconds load_interval{10'000};       // > 0
  std::chrono::milliseconds eviction_interval{120'000};  // > 0
  std::chrono::milliseconds drain_settle{5000};          // before a removed worker goes; >= 0
  std::chrono::milliseconds connect_timeout{10'000};     // > 0
  bool remove_unhealthy = false;  // a worker whose status becomes failed is removed
  bool allow_link_local = false;  // link-local addresses in POST /workers
  // Told of every probe's result, on the control thread.
  std::function<void(bool healthy)> on_probe;
};

}  // namespace smg::control
