#include "smg/worker/health_state.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace smg::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

HealthState make(std::uint32_t failures = 3, std::uint32_t successes = 2) {
  HealthOptions options;
  options.failure_threshold = failures;
  options.success_threshold = successes;
  return HealthState(options);
}

HealthState make_ready() {
  HealthState state = make();
  state.record(true);
  return state;
}

HealthState make_not_ready() {
  HealthState state = make_ready();
  for (int i = 0; i < 3; ++i) state.record(false);
  return state;
}

void fail(HealthState& state, int times) {
  for (int i = 0; i < times; ++i) state.record(false);
}

TEST(HealthState, IsReadyAfterItsFirstGoodProbe) {
  HealthState state = make();
  EXPECT_EQ(state.status(), WorkerStatus::pending);
  EXPECT_EQ(state.record(true), WorkerStatus::ready);
}

TEST(HealthState, StaysPendingUntilTenTimesTheThresholdFailed) {
  HealthState state = make();
  fail(state, 29);
  EXPECT_EQ(state.status(), WorkerStatus::pending);
  EXPECT_EQ(state.record(false), WorkerStatus::failed);
}

TEST(HealthState, LeavesReadyAtTheThresholdthFailureInARow) {
  HealthState state = make_ready();
  fail(state, 2);
  state.record(true);
  fail(state, 2);
  EXPECT_EQ(state.status(), WorkerStatus::ready);
  EXPECT_EQ(state.record(false), WorkerStatus::not_ready);
}

TEST(HealthState, RejoinsAfterEnoughGoodProbesInARow) {
  HealthState state = make_not_ready();
  EXPECT_EQ(state.record(true), WorkerStatus::not_ready);
  EXPECT_EQ(state.record(false), WorkerStatus::not_ready);
  EXPECT_EQ(state.record(true), WorkerStatus::not_ready);
  EXPECT_EQ(state.record(true), WorkerStatus::ready);
}

TEST(HealthState, FailsAfterThreeTimesTheThresholdFurtherFailures) {
  HealthState state = make_not_ready();
  fail(state, 8);
  EXPECT_EQ(state.status(), WorkerStatus::not_ready);
  EXPECT_EQ(state.record(false), WorkerStatus::failed);
}

TEST(HealthState, AFailedWorkerRejoinsByItself) {
  HealthState state = make_not_ready();
  fail(state, 100);
  ASSERT_EQ(state.status(), WorkerStatus::failed);
  state.record(true);
  EXPECT_EQ(state.record(true), WorkerStatus::ready);
}

TEST(HealthState, ProbesAReadyWorkerAtTheInterval) {
  HealthState state = make_ready();
  EXPECT_EQ(state.next_delay(), seconds(60));
  state.record(false);
  EXPECT_EQ(state.next_delay(), seconds(60));
}

TEST(HealthState, ProbesAWorkerThatIsDownAfterDoublingDelaysUpToTheInterval) {
  HealthState state = make_ready();
  fail(state, 2);
  std::vector<milliseconds> delays;
  for (int i = 0; i < 9; ++i) {
    state.record(false);
    delays.push_back(state.next_delay());
  }
  const std::vector<milliseconds> expected = {seconds(1),  seconds(2),  seconds(4),
                                              seconds(8),  seconds(16), seconds(32),
                                              seconds(60), seconds(60), seconds(60)};
  EXPECT_EQ(delays, expected);
}

TEST(HealthState, BacksOffFromAWorkerThatNeverCameUp) {
  HealthState state = make();
  state.record(false);
  EXPECT_EQ(state.next_delay(), seconds(1));
  state.record(false);
  EXPECT_EQ(state.next_delay(), seconds(2));
  fail(state, 1000);
  EXPECT_EQ(state.next_delay(), seconds(60));
}

TEST(HealthState, AGoodProbeThatWasNotEnoughIsFollowedByAnotherSoon) {
  HealthState state = make_not_ready();
  fail(state, 5);
  ASSERT_EQ(state.next_delay(), seconds(32));
  state.record(true);
  EXPECT_EQ(state.next_delay(), seconds(1));
}

TEST(HealthState, IsReadyWithoutProbesWhenDisabled) {
  HealthOptions options;
  options.disabled = true;
  HealthState state(options);
  EXPECT_EQ(state.status(), WorkerStatus::ready);
  for (int i = 0; i < 100; ++i) state.record(false);
  EXPECT_EQ(state.status(), WorkerStatus::ready);
}

TEST(HealthState, NamesEveryStatus) {
  EXPECT_STREQ(to_string(WorkerStatus::pending), "pending");
  EXPECT_STREQ(to_string(WorkerStatus::ready), "ready");
  EXPECT_STREQ(to_string(WorkerStatus::not_ready), "not_ready");
  EXPECT_STREQ(to_string(WorkerStatus::failed), "failed");
  EXPECT_STREQ(to_string(WorkerStatus::draining), "draining");
}

}  // namespace
}  // namespace smg::worker
