// Everything `smg launch` can be told, with its defaults. Flags and ranges: docs/flags.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "smg/base/log.hpp"
#include "smg/base/url.hpp"
#include "smg/policy/factory.hpp"
#include "smg/proxy/options.hpp"
#include "smg/server/listener.hpp"
#include "smg/worker/circuit_breaker.hpp"
#include "smg/worker/health_state.hpp"

namespace smg::app {

// Processors that this process may run on, at most 16.
std::uint32_t default_io_threads();

struct Options {
  std::string host = "0.0.0.0";  // brackets around an IPv6 address are removed
  std::uint16_t port = 30000;    // > 0
  std::uint32_t io_threads = default_io_threads();
  std::chrono::seconds shutdown_grace{180};

  std::vector<Url> worker_urls;  // http, no two alike
  std::string worker_api_key;    // of those workers; the gateway's own unless told otherwise
  bool allow_link_local_workers = false;
  bool remove_unhealthy_workers = false;
  std::chrono::seconds drain_settle{5};

  std::chrono::seconds load_monitor_interval{10};  // > 0
  bool disable_load_monitoring = false;            // then polled only if the policy reads loads

  std::string prometheus_host = "0.0.0.0";
  std::uint16_t prometheus_port = 29000;  // > 0

  // The gateway's key is in `session` and in `proxy`. --disable-retries is one attempt,
  // --disable-circuit-breaker and --disable-health-check are `disabled` of their parts.
  server::SessionOptions session;
  proxy::Options proxy;
  policy::PolicyOptions policy;
  worker::HealthOptions health;
  worker::BreakerOptions breaker;
  log::Options log;
};

}  // namespace smg::app
