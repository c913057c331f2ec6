#include "smg/policy/expected_wait.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "unit/policy/fleet_fixture.hpp"

namespace smg::policy {
namespace {

class ExpectedWaitTest : public FleetFixture {
 protected:
  ExpectedWaitChoice choose(const ExpectedWaitOptions& options = {}) {
    const Candidates all = candidates();
    const auto choice = choose_expected_wait(all.eligible, all, options);
    EXPECT_TRUE(choice);
    return choice.value_or(ExpectedWaitChoice{});
  }

  // One choice, booked with that many tokens.
  WorkerId dispatch(std::uint64_t tokens) {
    const auto choice = choose();
    book(candidates(), choice, tokens);
    return choice.worker;
  }
};

TEST_F(ExpectedWaitTest, AWaitIsQueuedAndCreditedTokensOverThroughput) {
  add_workers(1);
  report(0, row(500, 0, 7, 4000));
  fleet_.add_credit(0, 1000);
  EXPECT_DOUBLE_EQ(choose().score, 10.0);  // (4000 + 1000) / 500
}

TEST_F(ExpectedWaitTest, WaitingRequestsStandInForUnknownQueuedTokens) {
  add_workers(1);
  report(0, row(512, 0, 3));
  EXPECT_DOUBLE_EQ(choose().score, 6.0);  // 3 * 1024 / 512
  ExpectedWaitOptions options;
  options.mean_prefill_tokens = 256;
  EXPECT_DOUBLE_EQ(choose(options).score, 1.5);
}

TEST_F(ExpectedWaitTest, AFullCacheAddsAPenaltyThatStaysFinite) {
  add_workers(1);
  report(0, row(100, 0.75));
  EXPECT_NEAR(choose().score, 0.45, 1e-6);  // 0.15 * 0.75 / 0.25
  ExpectedWaitOptions options;
  options.kv_pressure_weight_s = 2;
  EXPECT_NEAR(choose(options).score, 6.0, 1e-6);
  report(0, row(100, 1.0));
  EXPECT_NEAR(choose().score, 149.85, 1e-3);  // 0.15 * 0.999 / 0.001
}

TEST_F(ExpectedWaitTest, UnknownThroughputIsTheDefault) {
  add_workers(1);
  report(0, row(0, 0, 0, 5000));
  EXPECT_DOUBLE_EQ(choose().score, 2.5);
  ExpectedWaitOptions options;
  options.default_throughput = 500;
  EXPECT_DOUBLE_EQ(choose(options).score, 10.0);
}

TEST_F(ExpectedWaitTest, OnlyAWorkerWithAQueueIsTakenAtItsOwnThroughput) {
  add_workers(2);
  report(0, row(100, 0, 0, 50));
  report(1, row(1000, 0, 0, 1000));
  EXPECT_EQ(choose().worker, 0);
  EXPECT_DOUBLE_EQ(choose().score, 0.5);
  report(0, row(100, 0));
  fleet_.add_credit(0, 500);
  EXPECT_EQ(choose().worker, 0);
  EXPECT_DOUBLE_EQ(choose().score, 0.5);  // 500 / 1000, not 500 / 100
}

TEST_F(ExpectedWaitTest, WithoutAnyReportTheShortestQueueWins) {
  add_workers(3);
  set_load(0, 2);
  set_load(1, 1);
  set_load(2, 5);
  EXPECT_EQ(choose().worker, 1);
  EXPECT_DOUBLE_EQ(choose().score, 1.0);
}

TEST_F(ExpectedWaitTest, AWorkerWithoutAReportOnlyDrawsLevelAndOnlyWhenIdle) {
  add_workers(2);
  report(0, row(100, 0, 0, 300));
  EXPECT_DOUBLE_EQ(choose().score, 3.0);
  std::set<WorkerId> seen;
  for (int i = 0; i < 2; ++i) seen.insert(dispatch(0));
  EXPECT_EQ(seen.size(), 2U);
  report(0, row(100, 0, 0, 300));
  set_load(1, 1);
  EXPECT_EQ(choose().worker, 0);
  EXPECT_DOUBLE_EQ(choose().score, 3.0);
}

TEST_F(ExpectedWaitTest, IsTotalOverHostileReports) {
  add_workers(3);
  report(0,
         row(std::numeric_limits<double>::quiet_NaN(), -1, std::numeric_limits<std::int64_t>::min(),
             std::numeric_limits<std::int64_t>::max()));
  report(1, row(1e-300, std::numeric_limits<double>::infinity(), 1,
                std::numeric_limits<std::int64_t>::max()));
  report(2, row(1e300, 1e300, std::numeric_limits<std::int64_t>::max(), -1));
  fleet_.add_credit(0, std::numeric_limits<std::uint64_t>::max());
  for (const WorkerId only : eligible_) {
    const Candidates one = candidates({only});
    const auto choice = choose_expected_wait(one.eligible, one, {});
    ASSERT_TRUE(choice);
    EXPECT_TRUE(std::isfinite(choice->score)) << only;
    EXPECT_GE(choice->score, 0) << only;
  }
  EXPECT_TRUE(std::isfinite(choose().score));
}

TEST_F(ExpectedWaitTest, NobodyIsChosenFromNobody) {
  add_workers(1);
  const Candidates none = candidates({});
  EXPECT_FALSE(choose_expected_wait(none.eligible, none, {}));
}

TEST_F(ExpectedWaitTest, TheWaitingCapSkipsWorkersAtIt) {
  add_workers(2);
  ExpectedWaitOptions options;
  options.max_waiting_requests = 4;
  report(0, row(1000, 0, 3, 10));
  report(1, row(1000, 0, 3, 5000));
  EXPECT_EQ(choose(options).worker, 0);
  fleet_.add_credit(0, 1);
  EXPECT_EQ(choose(options).worker, 1) << "3 waiting and 1 credited are 4";
  fleet_.add_credit(1, 1);
  const Candidates all = candidates();
  EXPECT_FALSE(choose_expected_wait(all.eligible, all, options));
}

TEST_F(ExpectedWaitTest, TheWaitingCapKeepsWorkersWithoutAReport) {
  add_workers(2);
  ExpectedWaitOptions options;
  options.max_waiting_requests = 1;
  report(0, row(1000, 0, 1));
  set_load(1, 50);
  fleet_.add_credit(1, 100);
  EXPECT_EQ(choose(options).worker, 1);
}

TEST_F(ExpectedWaitTest, AnIdleEnginesSmallRateIsNotItsCapacity) {
  // One engine reports 40 tokens/s at usage 0.02, the other 3000 at 0.5; 160 requests within one
  // poll, of 8, 200 and 4,000 tokens.
  for (const std::uint64_t tokens : {8U, 200U, 4000U}) {
    SCOPED_TRACE(tokens);
    if (eligible_.empty()) add_workers(2);
    report(0, row(40, 0.02));
    report(1, row(3000, 0.5));
    int busy = 0;
    for (int i = 0; i < 160; ++i) busy += dispatch(tokens) == 1 ? 1 : 0;
    EXPECT_LE(busy, 80);
  }
}

TEST_F(ExpectedWaitTest, ABurstIsSpreadByCreditBetweenReports) {
  add_workers(4);
  for (const WorkerId id : eligible_) report(id, row(1000, 0.1));
  std::array<int, 4> counts{};
  for (int i = 0; i < 400; ++i) ++counts[dispatch(100)];
  EXPECT_THAT(counts, ::testing::Each(100));
}

TEST_F(ExpectedWaitTest, ABurstOfFullyCachedPromptsSpreadsToo) {
  add_workers(2);
  for (const WorkerId id : eligible_) report(id, row(1000, 0.1));
  std::array<int, 2> counts{};
  for (int i = 0; i < 10; ++i) ++counts[dispatch(0)];
  EXPECT_THAT(counts, ::testing::Each(5));
}

TEST_F(ExpectedWaitTest, TiesGoRoundInARandomOrder) {
  add_workers(4);
  std::set<std::array<WorkerId, 4>> orders;
  for (int round = 0; round < 250; ++round) {
    std::array<WorkerId, 4> order{};
    std::set<WorkerId> members;
    for (WorkerId& id : order) {
      id = dispatch(1);
      members.insert(id);
    }
    ASSERT_EQ(members.size(), 4U) << "round " << round;
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 24U) << "every order of four comes up";
}

TEST_F(ExpectedWaitTest, TheFirstOfARoundIsUniform) {
  add_workers(4);
  std::array<double, 4> firsts{};
  constexpr int kRounds = 1000;
  for (int round = 0; round < kRounds; ++round) {
    ++firsts[dispatch(1)];
    for (int i = 0; i < 3; ++i) dispatch(1);
  }
  double chi_square = 0;
  for (const double count : firsts) {
    chi_square += (count - kRounds / 4.0) * (count - kRounds / 4.0) / (kRounds / 4.0);
  }
  EXPECT_LT(chi_square, 16.27);  // p = 0.001 with three degrees of freedom
}

TEST_F(ExpectedWaitTest, TiesBetweenSilentAndReportingWorkersAreUniform) {
  add_workers(3);
  report(0, row(1000, 0));
  std::array<double, 3> counts{};
  constexpr int kDraws = 3000;
  for (int i = 0; i < kDraws; ++i) ++counts[choose().worker];
  double chi_square = 0;
  for (const double count : counts) chi_square += (count - 1000) * (count - 1000) / 1000;
  EXPECT_LT(chi_square, 13.82);  // p = 0.001 with two degrees of freedom
}

TEST_F(ExpectedWaitTest, AWorkerThatJoinsLateGetsNoBacklogOfTies) {
  add_workers(2);
  for (int i = 0; i < 1000; ++i) dispatch(1);
  add_workers(1);
  std::array<int, 3> counts{};
  for (int i = 0; i < 300; ++i) ++counts[dispatch(1)];
  EXPECT_THAT(counts, ::testing::Each(::testing::AllOf(::testing::Ge(99), ::testing::Le(101))));
}

TEST_F(ExpectedWaitTest, AWinWithoutATieUsesUpNoTurn) {
  add_workers(2);
  set_load(0, 1);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(dispatch(1), 1);
  set_load(0, 0);
  std::array<int, 2> counts{};
  for (int i = 0; i < 20; ++i) ++counts[dispatch(1)];
  EXPECT_THAT(counts, ::testing::Each(10));
}

TEST_F(ExpectedWaitTest, ARequestOfUnknownSizeCountsAsAMeanPrompt) {
  RoutingRequest request;
  EXPECT_EQ(prompt_tokens(request, {}), 1024U);
  request.estimated_tokens = 7;
  EXPECT_EQ(prompt_tokens(request, {}), 7U);
}

TEST_F(ExpectedWaitTest, HandlesAThousandWorkers) {
  add_workers(1024);
  for (const WorkerId id : eligible_) set_load(id, 3);
  set_load(1000, 2);
  EXPECT_EQ(choose().worker, 1000);
  for (const WorkerId id : eligible_) report(id, row(100, 0.5));
  report(777, row(100, 0.25));
  EXPECT_EQ(choose().worker, 777);
}

}  // namespace
}  // namespace smg::policy
