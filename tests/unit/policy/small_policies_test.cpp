// random, round_robin, passthrough, least_load and the factory.
#include <gmock/gmock.h>

#include <array>

#include "smg/policy/factory.hpp"
#include "smg/policy/least_load.hpp"
#include "smg/policy/passthrough.hpp"
#include "smg/policy/random.hpp"
#include "smg/policy/round_robin.hpp"
#include "unit/policy/fleet_fixture.hpp"

namespace smg::policy {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class SmallPoliciesTest : public FleetFixture {
 protected:
  WorkerId pick(Policy& policy, std::vector<WorkerId> among) {
    const auto selection = policy.select(RoutingRequest{}, candidates(std::move(among)));
    EXPECT_TRUE(selection);
    return selection ? selection->worker : worker::kNoWorker;
  }
};

TEST_F(SmallPoliciesTest, RandomIsUniformOverTheEligible) {
  add_workers(5);
  RandomPolicy policy;
  const std::vector<WorkerId> among = {0, 1, 2, 4};
  std::array<double, 5> counts{};
  for (int i = 0; i < 1000; ++i) ++counts[pick(policy, among)];
  EXPECT_EQ(counts[3], 0);
  double chi_square = 0;
  for (const WorkerId id : among) chi_square += (counts[id] - 250) * (counts[id] - 250) / 250;
  EXPECT_LT(chi_square, 16.27);  // p = 0.001 with three degrees of freedom
  EXPECT_GT(chi_square, 0.0) << "draws have no memory";
}

TEST_F(SmallPoliciesTest, RoundRobinTakesEachInTurn) {
  add_workers(3);
  RoundRobinPolicy policy;
  std::vector<WorkerId> picks;
  for (int i = 0; i < 6; ++i) picks.push_back(pick(policy, {0, 1, 2}));
  EXPECT_THAT(picks, ElementsAre(0, 1, 2, 0, 1, 2));
}

TEST_F(SmallPoliciesTest, AlternatingSetsDoNotSkewEachOther) {
  add_workers(4);
  RoundRobinPolicy policy;
  std::array<int, 2> pair{};
  std::array<int, 4> all{};
  for (int i = 0; i < 400; ++i) {
    ++all[pick(policy, {0, 1, 2, 3})];
    ++pair[pick(policy, {0, 1})];
  }
  EXPECT_THAT(all, Each(100));
  EXPECT_THAT(pair, Each(200));
}

TEST_F(SmallPoliciesTest, NewSetsDoNotAllStartWithTheSameWorker) {
  add_workers(12);
  RoundRobinPolicy policy;
  std::array<int, 2> by_place{};
  for (WorkerId last = 2; last < 12; ++last) {
    const WorkerId picked = pick(policy, {0, last});
    ++by_place[picked == 0 ? 0 : 1];
  }
  EXPECT_THAT(by_place, Each(5));
}

TEST_F(SmallPoliciesTest, RoundRobinForgetsTheSetUsedLongestAgo) {
  add_workers(100);
  RoundRobinPolicy policy;
  const std::vector<WorkerId> kept = {0, 1};
  const std::vector<WorkerId> dropped = {0, 2};
  EXPECT_EQ(pick(policy, dropped), 0);  // starts at 0
  EXPECT_EQ(pick(policy, kept), 1);     // starts at 1
  std::vector<std::vector<WorkerId>> others;
  for (WorkerId a = 3; a < 100; ++a) {
    for (WorkerId b = 3; b < 100; ++b) others.push_back({a, b});
  }
  others.resize(RoundRobinPolicy::kMaxSets - 1);
  for (std::size_t i = 0; i < others.size(); ++i) {
    pick(policy, others[i]);
    if (i == 100) {
      EXPECT_EQ(pick(policy, kept), 0);
    }
  }
  EXPECT_EQ(pick(policy, kept), 1) << "its counter went on";
  EXPECT_EQ(pick(policy, dropped), 2) << "starts anew, at the shared number 4097";
}

TEST_F(SmallPoliciesTest, RoundRobinGoesThroughAThousandWorkers) {
  add_workers(1024);
  RoundRobinPolicy policy;
  for (std::size_t i = 0; i < 2048; ++i) ASSERT_EQ(pick(policy, eligible_), i % 1024);
}

TEST_F(SmallPoliciesTest, PassthroughTakesTheFirst) {
  add_workers(3);
  PassthroughPolicy policy;
  EXPECT_EQ(pick(policy, {1, 2}), 1);
  EXPECT_EQ(pick(policy, {1, 2}), 1);
  EXPECT_EQ(pick(policy, {2}), 2);
}

TEST_F(SmallPoliciesTest, LeastLoadCreditsTheWholePrompt) {
  add_workers(2);
  report(0, row(1000, 0, 0, 10));
  report(1, row(1000, 0, 0, 500));
  LeastLoadPolicy policy{ExpectedWaitOptions{}};
  RoutingRequest request;
  request.estimated_tokens = 600;
  EXPECT_EQ(policy.select(request, candidates())->worker, 0);
  EXPECT_EQ(fleet_.credit_tokens(0), 600U);
  EXPECT_EQ(fleet_.credit_requests(0), 1U);
  EXPECT_EQ(policy.select(request, candidates())->worker, 1);
}

TEST_F(SmallPoliciesTest, LeastLoadRefusesWhenAllAreAtTheCap) {
  add_workers(1);
  ExpectedWaitOptions options;
  options.max_waiting_requests = 2;
  LeastLoadPolicy policy(options);
  report(0, row(1000, 0, 1));
  EXPECT_TRUE(policy.select(RoutingRequest{}, candidates()));
  EXPECT_FALSE(policy.select(RoutingRequest{}, candidates()));
}

TEST_F(SmallPoliciesTest, NoPolicyChoosesFromNobody) {
  add_workers(1);
  PrefixIndexes indexes(16, 1000);
  struct Silent : CacheAwareObserver {
    void on_decision(Branch, double) noexcept override {}
  } observer;
  for (const std::string_view name : policy_names()) {
    PolicyOptions options;
    options.name = std::string(name);
    const auto policy = make_policy(options, indexes, observer);
    ASSERT_TRUE(policy) << name;
    EXPECT_EQ(policy->name(), name);
    EXPECT_FALSE(policy->select(RoutingRequest{}, candidates({}))) << name;
    EXPECT_EQ(policy->select(RoutingRequest{}, candidates({0}))->worker, 0) << name;
    EXPECT_EQ(policy->wants_key(), name == "cache_aware") << name;
    EXPECT_EQ(policy->wants_loads(), name == "cache_aware" || name == "least_load") << name;
  }
  PolicyOptions options;
  options.name = "fastest";
  EXPECT_FALSE(make_policy(options, indexes, observer));
}

}  // namespace
}  // namespace smg::policy
