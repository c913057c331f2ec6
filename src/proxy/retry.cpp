#include "smg/proxy/retry.hpp"

#include <algorithm>
#include <cmath>

namespace smg::proxy {

bool is_retryable_status(int status) {
  switch (status) {
    case 408:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
      return true;
    default:
      return false;
  }
}

RetryMachine::Next RetryMachine::counted() {
  ++attempts_;
  return attempts_ < options_.max_attempts ? Next::again : Next::give_up;
}

RetryMachine::Next RetryMachine::after_status(int status) {
  const Next next = counted();
  return is_retryable_status(status) ? next : Next::give_up;
}

RetryMachine::Next RetryMachine::after_error(const Error& error) {
  const Next next = counted();
  return error.retry == Retry::never ? Next::give_up : next;
}

std::chrono::milliseconds RetryMachine::backoff(double uniform) {
  const double nominal = static_cast<double>(options_.initial_backoff.count()) *
                         std::pow(options_.backoff_multiplier, backoffs_);
  ++backoffs_;
  const double capped = std::min(nominal, static_cast<double>(options_.max_backoff.count()));
  const double jittered = capped * (1 + options_.jitter_factor * (2 * uniform - 1));
  return std::chrono::milliseconds(std::max<std::int64_t>(std::llround(jittered), 0));
}

}  // namespace smg::proxy
