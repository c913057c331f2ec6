// The whole retry decision of one request: pure, no clock, no sockets.
//
// A failed attempt is followed at once by another worker while an untried eligible one is left;
// when all were tried, by a back-off after which all may be tried again. Retried are transport
// failures and 408, 429, 500, 502, 503, 504; nothing is retried once a response byte has gone to
// the client (the caller does not ask then), after a timeout, or beyond max_attempts in total.
#pragma once

#include <chrono>
#include <cstdint>

#include "smg/base/error.hpp"
#include "smg/proxy/options.hpp"

namespace smg::proxy {

bool is_retryable_status(int status);

class RetryMachine {
 public:
  explicit RetryMachine(const RetryOptions& options) : options_(options) {}

  enum class Next : std::uint8_t {
    give_up,  // answer with what this attempt brought
    again     // another worker if one is left, else after backoff()
  };
  Next after_status(int status);
  Next after_error(const Error& error);

  // Delay before the next round, from a uniform number in [0, 1):
  // d = min(initial * multiplier^k, max) for the k-th back-off, then d + d * jitter * (2u - 1).
  std::chrono::milliseconds backoff(double uniform);

  std::uint32_t attempts() const { return attempts_; }

 private:
  Next counted();

  RetryOptions options_;
  std::uint32_t attempts_ = 0;  // that have ended
  std::uint32_t backoffs_ = 0;
};

}  // namespace smg::proxy
