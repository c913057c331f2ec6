#include "smg/policy/cache_aware.hpp"

#include <gmock/gmock.h>

#include <array>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "unit/policy/fleet_fixture.hpp"

namespace smg::policy {
namespace {

using ::testing::Each;
using ::testing::Ge;

struct Recorder : CacheAwareObserver {
  void on_decision(Branch branch, double match_ratio) noexcept override {
    branches.push_back(branch);
    ratio = match_ratio;
  }
  std::vector<Branch> branches;
  double ratio = -1;
};

class CacheAwareTest : public FleetFixture {
 protected:
  CacheAwarePolicy make(CacheAwareOptions options = {}) { return {options, indexes_, observer_}; }

  WorkerId select(CacheAwarePolicy& policy, const RoutingRequest& request) {
    return select(policy, request, eligible_);
  }
  WorkerId select(CacheAwarePolicy& policy, const RoutingRequest& request,
                  const std::vector<WorkerId>& among) {
    const auto selection = policy.select(request, candidates(among));
    EXPECT_TRUE(selection);
    return selection ? selection->worker : worker::kNoWorker;
  }
  WorkerId select(CacheAwarePolicy& policy, std::string_view text) {
    return select(policy, text_request(text), eligible_);
  }

  Branch last_branch() const { return observer_.branches.back(); }

  // Two of them share less than a tenth.
  static std::string unique_text(int number, std::size_t size = 200) {
    std::string text = std::to_string(number) + ":";
    text.resize(size, static_cast<char>('a' + number % 26));
    return text;
  }

  Recorder observer_;
  PrefixIndexes indexes_{16, 1'000'000};
};

TEST_F(CacheAwareTest, TheSamePromptGoesBackToItsWorker) {
  add_workers(4);
  auto policy = make();
  const WorkerId first = select(policy, "You are a helpful assistant. Hello.");
  EXPECT_EQ(last_branch(), Branch::expected_wait_fallback);
  EXPECT_EQ(observer_.ratio, 0);
  set_load(first, 5);
  EXPECT_EQ(select(policy, "You are a helpful assistant. Hello."), first);
  EXPECT_EQ(last_branch(), Branch::tree_match);
  EXPECT_EQ(observer_.ratio, 1);
}

TEST_F(CacheAwareTest, AMatchOfExactlyTheThresholdIsAMiss) {
  add_workers(2);
  CacheAwareOptions options;
  options.cache_threshold = 0.5F;
  auto policy = make(options);
  const WorkerId holder = select(policy, std::string(100, 'a'));
  set_load(holder, 3);
  EXPECT_NE(select(policy, std::string(50, 'a') + std::string(50, 'b')), holder);
  EXPECT_EQ(last_branch(), Branch::expected_wait_fallback);
  EXPECT_EQ(observer_.ratio, 0.5);
  EXPECT_EQ(select(policy, std::string(51, 'a') + std::string(49, 'c')), holder);
  EXPECT_EQ(last_branch(), Branch::tree_match);
  EXPECT_EQ(observer_.ratio, 0.51);
}

TEST_F(CacheAwareTest, ThirtyOfAHundredIsAMissAtTheDefaultThreshold) {
  add_workers(2);
  auto policy = make();
  const WorkerId holder = select(policy, std::string(100, 'a'));
  set_load(holder, 3);
  EXPECT_NE(select(policy, std::string(30, 'a') + std::string(70, 'b')), holder);
  EXPECT_EQ(select(policy, std::string(31, 'a') + std::string(69, 'c')), holder);
}

TEST_F(CacheAwareTest, AMatchIsCountedInCharactersNotBytes) {
  add_workers(2);
  CacheAwareOptions options;
  options.cache_threshold = 0.5F;
  auto policy = make(options);
  const WorkerId holder = select(policy, "éééé----");
  set_load(holder, 3);
  // 8 of 12 bytes, but only 4 of 8 characters.
  EXPECT_NE(select(policy, "éééé++++"), holder);
  EXPECT_EQ(observer_.ratio, 0.5);
}

TEST_F(CacheAwareTest, AHotHolderSpillsAndTheSpillTargetBecomesAHolder) {
  add_workers(2);
  CacheAwareOptions options;
  options.balance_abs_threshold = 0;
  options.balance_rel_threshold = 1.0;
  auto policy = make(options);
  const std::string text = unique_text(1);
  const WorkerId first = select(policy, text);
  set_load(first, 1);
  const WorkerId second = select(policy, text);
  EXPECT_NE(second, first);
  EXPECT_EQ(last_branch(), Branch::spill);
  // Equal loads: nobody is hot, and both hold the prefix.
  set_load(second, 1);
  std::set<WorkerId> chosen;
  for (int i = 0; i < 3; ++i) {
    chosen.insert(select(policy, text));
    EXPECT_EQ(last_branch(), Branch::tree_match);
  }
  EXPECT_EQ(chosen.size(), 2U);
}

TEST_F(CacheAwareTest, AHolderAtTheGatesMarginIsKept) {
  add_workers(2);
  auto policy = make();
  const std::string text = unique_text(1);
  const WorkerId holder = select(policy, text);
  // Mean 64: the holder exceeds it by exactly 64.
  set_load(holder, 128);
  EXPECT_EQ(select(policy, text), holder);
  set_load(holder, 130);
  EXPECT_NE(select(policy, text), holder);
  EXPECT_EQ(last_branch(), Branch::spill);
}

TEST_F(CacheAwareTest, ASpillAvoidsEveryHotWorker) {
  add_workers(4);
  CacheAwareOptions options;
  options.balance_abs_threshold = 10;
  options.balance_rel_threshold = 1.0;
  auto policy = make(options);
  const std::string text = unique_text(1);
  ASSERT_EQ(select(policy, text_request(text), {0}), 0);
  // Worker 1 has by far the shortest expected wait, but is as hot as the holder.
  report(0, row(1000, 0.5));
  report(1, row(1000, 0.0));
  report(2, row(1000, 0.6));
  report(3, row(1000, 0.7));
  set_load(0, 100);
  set_load(1, 100);
  EXPECT_EQ(select(policy, text), 2);
  EXPECT_EQ(last_branch(), Branch::spill);
}

TEST_F(CacheAwareTest, ADeadHolderIsReplacedAndCountsAsASpill) {
  add_workers(3);
  auto policy = make();
  const std::string text = unique_text(1);
  ASSERT_EQ(select(policy, text_request(text), {0}), 0);
  set_load(1, 4);
  EXPECT_EQ(select(policy, text_request(text), {1, 2}), 2);
  EXPECT_EQ(last_branch(), Branch::spill);
  EXPECT_EQ(observer_.ratio, 1);
}

TEST_F(CacheAwareTest, TheHolderWithTheLowestExpectedWaitWins) {
  add_workers(3);
  auto policy = make();
  const std::string text = unique_text(1);
  select(policy, text_request(text), {0});
  select(policy, text_request(text), {1});
  report(0, row(1000, 0.1, 0, 900));
  report(1, row(1000, 0.1, 0, 500));
  report(2, row(1000, 0.0));
  EXPECT_EQ(select(policy, text), 1);
  EXPECT_EQ(last_branch(), Branch::tree_match);
}

TEST_F(CacheAwareTest, AMissGoesToTheLeastBusyNotTheSmallestTree) {
  add_workers(2);
  auto policy = make();
  // Worker 1 has a large tree; worker 0 holds six standing streams.
  for (int i = 0; i < 50; ++i) select(policy, text_request(unique_text(i, 5000)), {1});
  set_load(0, 6);
  int idle = 0;
  for (int i = 100; i < 110; ++i) {
    const WorkerId chosen = select(policy, unique_text(i, 2000));
    set_load(chosen, fleet_.in_flight(chosen) + 1);
    idle += chosen == 1 ? 1 : 0;
  }
  EXPECT_GE(idle, 8);
}

TEST_F(CacheAwareTest, SequentialUniquePromptsReachEveryWorker) {
  add_workers(4);
  auto policy = make();
  for (int run = 0; run < 100; ++run) {
    std::array<int, 4> counts{};
    for (int i = 0; i < 40; ++i) {
      ++counts[select(policy, unique_text(run * 40 + i, 400))];
    }
    ASSERT_THAT(counts, Each(Ge(5)));
  }
}

TEST_F(CacheAwareTest, AnEmptyTextIsAMissThatRegistersTheWorker) {
  add_workers(1);
  auto policy = make();
  select(policy, "");
  EXPECT_EQ(last_branch(), Branch::expected_wait_fallback);
  EXPECT_EQ(observer_.ratio, 0);
  ASSERT_EQ(indexes_.sizes().size(), 1U);
  EXPECT_EQ(indexes_.sizes()[0].string_tenants, 1U);
  EXPECT_EQ(indexes_.sizes()[0].chars, 0U);
}

TEST_F(CacheAwareTest, TokenIdsUseTheTokenTreeInWholePages) {
  add_workers(2);
  auto policy = make();
  std::vector<std::uint32_t> ids(31);
  std::iota(ids.begin(), ids.end(), 1U);
  RoutingRequest request = text_request("this text is not looked at");
  request.tokens = ids;
  const WorkerId first = select(policy, request);
  set_load(first, 2);
  EXPECT_EQ(select(policy, request), first);
  EXPECT_EQ(last_branch(), Branch::tree_match);
  EXPECT_EQ(observer_.ratio, 16.0 / 31.0);
  ASSERT_EQ(indexes_.sizes().size(), 1U);
  EXPECT_EQ(indexes_.sizes()[0].tokens, 16U);
  EXPECT_EQ(indexes_.sizes()[0].chars, 0U);
  EXPECT_EQ(indexes_.sizes()[0].string_tenants, 0U);
}

TEST_F(CacheAwareTest, LessThanAPageIsAMissButIsRouted) {
  add_workers(2);
  auto policy = make();
  const std::vector<std::uint32_t> ids(15, 7);
  RoutingRequest request = text_request("");
  request.tokens = ids;
  EXPECT_NE(select(policy, request), select(policy, request));
  EXPECT_EQ(last_branch(), Branch::expected_wait_fallback);
}

TEST_F(CacheAwareTest, PartitionsNeverMatchEachOther) {
  add_workers(2);
  auto policy = make();
  const std::string text = unique_text(1);
  const WorkerId holder = select(policy, text);
  set_load(holder, 2);
  RoutingRequest salted = text_request(text);
  salted.partition = 99;
  EXPECT_NE(select(policy, salted), holder);
  EXPECT_EQ(last_branch(), Branch::expected_wait_fallback);
}

TEST_F(CacheAwareTest, ModelsHaveTreesOfTheirOwn) {
  add_workers(2);
  auto policy = make();
  const std::string text = unique_text(1);
  const WorkerId holder = select(policy, text);
  set_load(holder, 2);
  RoutingRequest other = text_request(text);
  other.model = "n";
  EXPECT_NE(select(policy, other), holder);
}

TEST_F(CacheAwareTest, ARequestForAnyModelSharesTheTreesOfItsWorkersModel) {
  add_workers(2);
  auto policy = make();
  const std::string text = unique_text(1);
  const WorkerId holder = select(policy, text);
  set_load(holder, 2);
  RoutingRequest any = text_request(text);
  any.model = "unknown";
  EXPECT_EQ(select(policy, any), holder);
  EXPECT_EQ(indexes_.sizes().size(), 1U);
}

TEST_F(CacheAwareTest, CreditIsTheUnmatchedPart) {
  add_workers(2);
  auto policy = make();
  const WorkerId holder = select(policy, std::string(300, 'a'));
  EXPECT_EQ(fleet_.credit_tokens(holder), 75U);
  fleet_.clear_credit(holder);
  // 300 of 400 characters match: a quarter of 100 tokens is new.
  select(policy, std::string(300, 'a') + std::string(100, 'b'));
  EXPECT_EQ(fleet_.credit_tokens(holder), 25U);
  EXPECT_EQ(fleet_.credit_requests(holder), 1U);
}

TEST_F(CacheAwareTest, ASpilledRequestIsCreditedInFull) {
  add_workers(2);
  CacheAwareOptions options;
  options.balance_abs_threshold = 0;
  options.balance_rel_threshold = 1.0;
  auto policy = make(options);
  const std::string text = unique_text(1, 400);
  const WorkerId first = select(policy, text);
  set_load(first, 1);
  const WorkerId second = select(policy, text);
  ASSERT_NE(second, first);
  EXPECT_EQ(fleet_.credit_tokens(second), text.size() / 4);
}

TEST_F(CacheAwareTest, ARemovedWorkersPrefixesAreMissesAtOnce) {
  add_workers(2);
  auto policy = make();
  const std::string text = unique_text(1);
  const WorkerId holder = select(policy, text);
  set_load(holder, 1);
  policy.on_worker_removed(holder);
  EXPECT_EQ(indexes_.sizes()[0].chars, 0U);
  EXPECT_EQ(indexes_.sizes()[0].string_tenants, 0U);
  EXPECT_NE(select(policy, text), holder);
  EXPECT_EQ(last_branch(), Branch::expected_wait_fallback);
}

TEST_F(CacheAwareTest, AnIdleEngineIsPreferredToABusyOne) {
  add_workers(2);
  auto policy = make();
  report(0, row(40, 0.02));
  report(1, row(3000, 0.5));
  int busy = 0;
  for (int i = 0; i < 160; ++i) {
    busy += select(policy, unique_text(i, 1000)) == 1 ? 1 : 0;
  }
  EXPECT_LE(busy, 80);
}

TEST_F(CacheAwareTest, TellsOfEachDecisionInADebugLine) {
  testing::internal::CaptureStdout();
  log::Options options;
  options.filter = "info,smg::policies::cache_aware=debug";
  ASSERT_TRUE(log::start(options).has_value());
  add_workers(1);
  auto policy = make();
  select(policy, std::string(100, 'a'));
  select(policy, std::string(50, 'a') + std::string(50, 'b'));
  log::stop();
  const std::string lines = testing::internal::GetCapturedStdout();
  EXPECT_THAT(lines, ::testing::HasSubstr(
                         "DEBUG smg::policies::cache_aware: Cache-aware selection index=tree "
                         "branch=expected_wait_fallback worker=http://w0 model_id=m "
                         "matched_ratio=0 threshold=0.3\n"));
  EXPECT_THAT(lines, ::testing::HasSubstr(
                         "DEBUG smg::policies::cache_aware: Cache-aware selection index=tree "
                         "branch=tree_match worker=http://w0 model_id=m "
                         "matched_ratio=0.5 threshold=0.3\n"));
}

TEST_F(CacheAwareTest, SelectsFromManyThreadsWhileWorkersComeAndGo) {
  struct Silent : CacheAwareObserver {
    void on_decision(Branch, double) noexcept override {}
  } silent;
  add_workers(8);
  CacheAwarePolicy policy({}, indexes_, silent);
  const auto requests = [&](int seed) {
    SnapshotReader<worker::WorkerSet> workers(registry_.workers());
    SnapshotReader<worker::LoadTable> loads(table_);
    for (int i = 0; i < 400; ++i) {
      const worker::WorkerSet& set = workers.get();
      const Candidates now{set.any().workers, set, fleet_, loads.get()};
      const std::string text = unique_text((i + seed) % 50);
      const auto selection = policy.select(text_request(text), now);
      ASSERT_TRUE(selection);
      auto ticket = worker::Ticket::acquire(fleet_, set.at(selection->worker), now_);
      ASSERT_TRUE(ticket);
      ticket->set_outcome(worker::Outcome::success, now_);
    }
  };
  std::thread first(requests, 0);
  std::thread second(requests, 25);
  for (int i = 0; i < 20; ++i) {
    report(static_cast<WorkerId>(i % 8), row(1000, 0.1));
    worker::WorkerSpec spec;
    spec.url.text = "http://guest";
    const auto guest = *registry_.add(spec);
    ASSERT_TRUE(registry_.remove(guest->uuid).has_value());
    policy.on_worker_removed(guest->id);
    indexes_.evict_slice();
  }
  first.join();
  second.join();
  for (const WorkerId id : eligible_) EXPECT_EQ(fleet_.in_flight(id), 0U);
}

TEST_F(CacheAwareTest, BranchesHaveTheNamesOfTheMetric) {
  EXPECT_STREQ(to_string(Branch::tree_match), "tree_match");
  EXPECT_STREQ(to_string(Branch::spill), "spill");
  EXPECT_STREQ(to_string(Branch::expected_wait_fallback), "expected_wait_fallback");
  EXPECT_STREQ(to_string(Branch::first_healthy_fallback), "first_healthy_fallback");
}

}  // namespace
}  // namespace smg::policy
