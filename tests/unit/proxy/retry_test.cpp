#include "smg/proxy/retry.hpp"

#include <gtest/gtest.h>

namespace smg::proxy {
namespace {

using Next = RetryMachine::Next;

RetryOptions attempts(std::uint32_t n) {
  RetryOptions options;
  options.max_attempts = n;
  return options;
}

Error error(Errc code, Retry retry) { return {code, Side::upstream, retry, "x"}; }

TEST(RetryMachine, RetriesExactlyTheRetryableStatuses) {
  for (int status = 100; status < 600; ++status) {
    const bool expected = status == 408 || status == 429 || status == 500 || status == 502 ||
                          status == 503 || status == 504;
    EXPECT_EQ(is_retryable_status(status), expected) << status;
    RetryMachine machine(attempts(2));
    EXPECT_EQ(machine.after_status(status), expected ? Next::again : Next::give_up) << status;
  }
}

TEST(RetryMachine, MaxAttemptsIsTheTotalNumberOfAttempts) {
  RetryMachine machine(attempts(3));
  EXPECT_EQ(machine.after_status(503), Next::again);
  EXPECT_EQ(machine.after_error(error(Errc::connect_failed, Retry::always)), Next::again);
  EXPECT_EQ(machine.after_status(503), Next::give_up);
  EXPECT_EQ(machine.attempts(), 3U);
}

TEST(RetryMachine, OneAttemptMeansNoRetry) {
  RetryMachine machine(attempts(1));
  EXPECT_EQ(machine.after_error(error(Errc::connect_failed, Retry::always)), Next::give_up);
}

TEST(RetryMachine, AnErrorThatMayHaveRunIsFinal) {
  RetryMachine machine(attempts(5));
  EXPECT_EQ(machine.after_error(error(Errc::timeout, Retry::never)), Next::give_up);
}

TEST(RetryMachine, BackOffGrowsByTheMultiplierUpToTheCap) {
  RetryOptions options = attempts(10);
  options.initial_backoff = std::chrono::milliseconds(50);
  options.max_backoff = std::chrono::milliseconds(100);
  options.backoff_multiplier = 1.5;
  RetryMachine machine(options);
  EXPECT_EQ(machine.backoff(0.5).count(), 50);
  EXPECT_EQ(machine.backoff(0.5).count(), 75);
  EXPECT_EQ(machine.backoff(0.5).count(), 100);
  EXPECT_EQ(machine.backoff(0.5).count(), 100);
}

TEST(RetryMachine, JitterSpreadsTheBackOffToBothSides) {
  RetryOptions options = attempts(10);
  options.initial_backoff = std::chrono::milliseconds(100);
  options.jitter_factor = 0.2;
  EXPECT_EQ(RetryMachine(options).backoff(0.0).count(), 80);
  EXPECT_EQ(RetryMachine(options).backoff(0.5).count(), 100);
  EXPECT_EQ(RetryMachine(options).backoff(0.999999).count(), 120);
}

}  // namespace
}  // namespace smg::proxy
