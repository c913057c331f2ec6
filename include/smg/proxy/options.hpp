// Settings of the proxy path. Flags and ranges: docs/flags.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace smg::proxy {

struct RetryOptions {
  std::uint32_t max_attempts = 5;  // --retry-max-retries: the total number of attempts, >= 1
  std::chrono::milliseconds initial_backoff{50};
  std::chrono::milliseconds max_backoff{30'000};
  double backoff_multiplier = 1.5;  // >= 1
  double jitter_factor = 0.2;       // 0..1
};

struct Options {
  RetryOptions retry;
  std::chrono::seconds request_timeout{1800};  // to the head, then each silence
  std::chrono::seconds connect_timeout{10};
  bool hide_routed_worker = false;  // no x-smg-routed-worker-id
  std::string api_key;  // the gateway's own: not passed to workers that were not given it
};

}  // namespace smg::proxy
