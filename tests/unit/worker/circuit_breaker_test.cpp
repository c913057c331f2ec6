#include "smg/worker/circuit_breaker.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace smg::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class CircuitBreakerTest : public ::testing::Test {
 protected:
  static BreakerOptions small() {
    BreakerOptions options;
    options.failure_threshold = 3;
    options.success_threshold = 2;
    options.timeout = seconds(60);
    options.window = seconds(120);
    return options;
  }

  CircuitBreaker make(const BreakerOptions& options) {
    return CircuitBreaker(
        options, [this](BreakerState from, BreakerState to) { seen_.emplace_back(from, to); });
  }

  static void report(CircuitBreaker& breaker, Outcome outcome, TimePoint at) {
    const auto admission = breaker.admit(at);
    ASSERT_TRUE(admission);
    breaker.record(outcome, *admission, at);
  }

  void open(CircuitBreaker& breaker) {
    for (int i = 0; i < 3; ++i) report(breaker, Outcome::failure, start_);
    ASSERT_EQ(breaker.state(), BreakerState::open);
  }

  const TimePoint start_{std::chrono::hours(1)};
  std::vector<std::pair<BreakerState, BreakerState>> seen_;
};

TEST_F(CircuitBreakerTest, OpensAtTheThresholdthFailureInARow) {
  auto breaker = make(small());
  report(breaker, Outcome::failure, start_);
  report(breaker, Outcome::failure, start_);
  EXPECT_EQ(breaker.state(), BreakerState::closed);
  EXPECT_EQ(breaker.consecutive_failures(), 2U);
  report(breaker, Outcome::failure, start_);
  EXPECT_EQ(breaker.state(), BreakerState::open);
  EXPECT_FALSE(breaker.would_admit(start_));
  EXPECT_FALSE(breaker.admit(start_));
}

TEST_F(CircuitBreakerTest, ASuccessStartsTheCountAnew) {
  auto breaker = make(small());
  report(breaker, Outcome::failure, start_);
  report(breaker, Outcome::failure, start_);
  report(breaker, Outcome::success, start_);
  EXPECT_EQ(breaker.consecutive_failures(), 0U);
  report(breaker, Outcome::failure, start_);
  report(breaker, Outcome::failure, start_);
  EXPECT_EQ(breaker.state(), BreakerState::closed);
}

TEST_F(CircuitBreakerTest, ANeutralOutcomeNeitherCountsNorResets) {
  auto breaker = make(small());
  report(breaker, Outcome::failure, start_);
  report(breaker, Outcome::failure, start_);
  report(breaker, Outcome::neutral, start_);
  EXPECT_EQ(breaker.consecutive_failures(), 2U);
  report(breaker, Outcome::failure, start_);
  EXPECT_EQ(breaker.state(), BreakerState::open);
}

TEST_F(CircuitBreakerTest, FailuresOlderThanTheWindowDoNotCount) {
  auto breaker = make(small());
  report(breaker, Outcome::failure, start_);
  report(breaker, Outcome::failure, start_ + seconds(119));
  report(breaker, Outcome::failure, start_ + seconds(121));
  EXPECT_EQ(breaker.state(), BreakerState::closed);
  EXPECT_EQ(breaker.consecutive_failures(), 3U);
  // 119, 121 and 122 are within one window.
  report(breaker, Outcome::failure, start_ + seconds(122));
  EXPECT_EQ(breaker.state(), BreakerState::open);
}

TEST_F(CircuitBreakerTest, FailuresExactlyAWindowApartCount) {
  auto breaker = make(small());
  report(breaker, Outcome::failure, start_);
  report(breaker, Outcome::failure, start_ + seconds(60));
  report(breaker, Outcome::failure, start_ + seconds(120));
  EXPECT_EQ(breaker.state(), BreakerState::open);
}

TEST_F(CircuitBreakerTest, AdmitsTrialsOnlyAfterTheTimeout) {
  auto breaker = make(small());
  open(breaker);
  const TimePoint early = start_ + seconds(60) - milliseconds(1);
  EXPECT_FALSE(breaker.would_admit(early));
  EXPECT_FALSE(breaker.admit(early));
  EXPECT_EQ(breaker.state(), BreakerState::open);
  const TimePoint due = start_ + seconds(60);
  EXPECT_TRUE(breaker.would_admit(due));
  EXPECT_EQ(breaker.state(), BreakerState::open) << "asking takes no place";
  EXPECT_TRUE(breaker.admit(due));
  EXPECT_EQ(breaker.state(), BreakerState::half_open);
}

TEST_F(CircuitBreakerTest, HalfOpenHasAsManyPlacesAsSuccessesNeeded) {
  auto breaker = make(small());
  open(breaker);
  const TimePoint due = start_ + seconds(60);
  const auto first = breaker.admit(due);
  ASSERT_TRUE(first);
  ASSERT_TRUE(breaker.admit(due));
  EXPECT_FALSE(breaker.would_admit(due));
  EXPECT_FALSE(breaker.admit(due));
  breaker.record(Outcome::neutral, *first, due);
  EXPECT_TRUE(breaker.would_admit(due));
  EXPECT_TRUE(breaker.admit(due));
  EXPECT_FALSE(breaker.admit(due));
}

TEST_F(CircuitBreakerTest, ClosesAfterEnoughSuccesses) {
  auto breaker = make(small());
  open(breaker);
  const TimePoint due = start_ + seconds(60);
  report(breaker, Outcome::success, due);
  EXPECT_EQ(breaker.state(), BreakerState::half_open);
  EXPECT_EQ(breaker.consecutive_successes(), 1U);
  report(breaker, Outcome::success, due);
  EXPECT_EQ(breaker.state(), BreakerState::closed);
  EXPECT_EQ(breaker.consecutive_failures(), 0U);
}

TEST_F(CircuitBreakerTest, OneFailedTrialOpensAgainForAnotherTimeout) {
  auto breaker = make(small());
  open(breaker);
  const TimePoint due = start_ + seconds(60);
  report(breaker, Outcome::success, due);
  report(breaker, Outcome::failure, due + seconds(5));
  EXPECT_EQ(breaker.state(), BreakerState::open);
  EXPECT_FALSE(breaker.would_admit(due + seconds(64)));
  EXPECT_TRUE(breaker.would_admit(due + seconds(65)));
}

TEST_F(CircuitBreakerTest, OutcomesFromBeforeATransitionMoveNothing) {
  auto breaker = make(small());
  const auto old = breaker.admit(start_);
  const auto older = breaker.admit(start_);
  ASSERT_TRUE(old && older);
  open(breaker);
  const TimePoint due = start_ + seconds(60);
  ASSERT_TRUE(breaker.admit(due));
  ASSERT_TRUE(breaker.admit(due));
  breaker.record(Outcome::success, *old, due);
  breaker.record(Outcome::failure, *older, due);
  EXPECT_EQ(breaker.state(), BreakerState::half_open);
  EXPECT_EQ(breaker.consecutive_successes(), 0U);
  EXPECT_FALSE(breaker.would_admit(due)) << "they hold no half-open place to free";
  EXPECT_EQ(breaker.outcomes()[0], 1U);
  EXPECT_EQ(breaker.outcomes()[1], 4U);
}

TEST_F(CircuitBreakerTest, DisabledCountsButNeverOpens) {
  auto options = small();
  options.disabled = true;
  auto breaker = make(options);
  for (int i = 0; i < 15; ++i) report(breaker, Outcome::failure, start_);
  EXPECT_EQ(breaker.state(), BreakerState::closed);
  EXPECT_EQ(breaker.consecutive_failures(), 15U);
  EXPECT_EQ(breaker.outcomes()[static_cast<std::size_t>(Outcome::failure)], 15U);
  EXPECT_TRUE(seen_.empty());
}

TEST_F(CircuitBreakerTest, TellsEveryTransitionOnceAndCountsIt) {
  auto breaker = make(small());
  open(breaker);
  const TimePoint due = start_ + seconds(60);
  report(breaker, Outcome::success, due);
  report(breaker, Outcome::success, due);
  const std::vector<std::pair<BreakerState, BreakerState>> expected = {
      {BreakerState::closed, BreakerState::open},
      {BreakerState::open, BreakerState::half_open},
      {BreakerState::half_open, BreakerState::closed}};
  EXPECT_EQ(seen_, expected);
  EXPECT_EQ(breaker.transitions()[0][1], 1U);
  EXPECT_EQ(breaker.transitions()[1][2], 1U);
  EXPECT_EQ(breaker.transitions()[2][0], 1U);
  EXPECT_EQ(breaker.transitions()[2][1], 0U);
}

TEST_F(CircuitBreakerTest, ARetiredBreakerTellsNothing) {
  auto breaker = make(small());
  breaker.retire();
  open(breaker);
  EXPECT_TRUE(seen_.empty());
}

}  // namespace
}  // namespace smg::worker
