#include "smg/control/load_monitor.hpp"

#include <gtest/gtest.h>

#include "unit/control/plane_world.hpp"

namespace smg::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::ScriptedServer;

struct Load {
  PlaneWorld world;
  ScriptedServer server{world.context};

  explicit Load(Options options = PlaneWorld::quick()) : world(std::move(options)) {
    serve_model(server, "org/m");
  }
  void start() {
    world.start({PlaneWorld::spec(server)});
    ASSERT_TRUE(world.until([&] { return world.ready(server.url()); }));
  }
  const worker::WorkerLoad* load() {
    table = world.loads.load();
    return table->find(world.worker(server.url())->id);
  }
  std::shared_ptr<const worker::LoadTable> table;
};

TEST(LoadMonitor, TheFirstPollFollowsReadinessAtOnce) {
  Options options = PlaneWorld::quick();
  options.load_interval = seconds(60);
  Load t(options);
  t.server.answer("/v1/loads", 200, R"({"loads":[{"num_running_reqs":3,"token_usage":0.5}]})");
  t.start();
  ASSERT_TRUE(t.world.until([&] { return t.load() != nullptr; }, seconds(1)));
  EXPECT_EQ(t.load()->running_requests, 3);
  EXPECT_EQ(t.load()->kv_usage, 0.5);
  EXPECT_EQ(t.server.last("/loads")->target, "/loads?model=org%2Fm");
  EXPECT_EQ(t.server.last("/v1/loads")->target, "/v1/loads?include=core,disagg,queues,memory");
  EXPECT_EQ(t.server.count("/metrics"), 0U) << "the first that answers counts";
}

TEST(LoadMonitor, AnAbsentEndpointIsNotAskedAtEveryPoll) {
  Load t;
  t.server.answer("/v1/loads", 200, R"({"loads":[{"num_running_reqs":1}]})");
  t.start();
  ASSERT_TRUE(t.world.until([&] { return t.server.count("/v1/loads") >= 15; }));
  EXPECT_EQ(t.server.count("/loads"), 2U);
}

TEST(LoadMonitor, AFailedPollForgetsAndALaterOneRemembers) {
  Load t;
  t.server.answer("/v1/loads", 200, R"({"loads":[{"num_running_reqs":1}]})");
  t.start();
  ASSERT_TRUE(t.world.until([&] { return t.load() != nullptr; }));
  t.server.answer("/v1/loads", 500);
  ASSERT_TRUE(t.world.until([&] { return t.load() == nullptr; }));
  t.server.answer("/v1/loads", 200, R"({"loads":[{"num_running_reqs":2}]})");
  ASSERT_TRUE(t.world.until([&] { return t.load() != nullptr; }));
}

TEST(LoadMonitor, VllmsThroughputIsTheRateOfItsPromptTokens) {
  Load t;
  int polls = 0;
  t.server.on("/metrics", [&polls](const test::SeenRequest&) {
    test::Answer answer;
    answer.body =
        "vllm:num_requests_running 1\nvllm:num_requests_waiting 0\n"
        "vllm:kv_cache_usage_perc 0.1\nvllm:prompt_tokens_total " +
        std::to_string(1000 * ++polls) + "\n";
    return answer;
  });
  t.start();
  ASSERT_TRUE(t.world.until([&] { return t.load() && t.load()->throughput > 0; }));
  EXPECT_LT(t.load()->throughput, 1000 / 0.02);
}

TEST(LoadMonitor, AnOverloadedWorkerIsBlockedUntilItIsNot) {
  Options options = PlaneWorld::quick();
  options.overload.waiting_requests = 4;
  Load t(options);
  t.server.answer("/v1/loads", 200, R"({"loads":[{"num_waiting_reqs":4}]})");
  t.start();
  const auto id = t.world.worker(t.server.url())->id;
  ASSERT_TRUE(t.world.until([&] { return t.world.fleet.blocked(id) == worker::kOverloaded; }));
  t.server.answer("/v1/loads", 200, R"({"loads":[{"num_waiting_reqs":3}]})");
  ASSERT_TRUE(t.world.until([&] { return t.world.fleet.blocked(id) == 0; }));
}

TEST(LoadMonitor, AWorkerThatIsNotReadyIsNotPolledAndHasNoReport) {
  Load t;
  t.server.answer("/v1/loads", 200, R"({"loads":[{"num_running_reqs":1}]})");
  t.start();
  ASSERT_TRUE(t.world.until([&] { return t.load() != nullptr; }));
  t.server.answer("/health", 500);
  ASSERT_TRUE(t.world.until([&] { return !t.world.ready(t.server.url()); }, seconds(4)));
  EXPECT_EQ(t.load(), nullptr);
  const std::size_t polls = t.server.count("/v1/loads");
  const std::size_t probes = t.server.count("/health");
  ASSERT_TRUE(t.world.until([&] { return t.server.count("/health") > probes; }, seconds(4)));
  EXPECT_LE(t.server.count("/v1/loads"), polls + 1) << "one may have been under way";
  EXPECT_EQ(t.load(), nullptr);
}

TEST(LoadMonitor, DisabledAndUnwantedItPollsNothing) {
  Options options = PlaneWorld::quick();
  options.load_monitoring = false;
  Load t(options);
  t.start();
  const std::size_t probes = t.server.count("/health");
  ASSERT_TRUE(t.world.until([&] { return t.server.count("/health") > probes; }, seconds(4)));
  EXPECT_EQ(t.server.count("/loads"), 0U);
}

TEST(LoadMonitor, APolicyThatReadsLoadsKeepsItOn) {
  Options options = PlaneWorld::quick();
  options.load_monitoring = false;
  options.policy_wants_loads = true;
  Load t(options);
  t.start();
  EXPECT_TRUE(t.world.until([&] { return t.server.count("/loads") > 0; }));
}

TEST(LoadMonitor, APollThatIsNeverAnsweredExpiresTheReport) {
  Load t;
  t.server.answer("/v1/loads", 200, R"({"loads":[{"num_running_reqs":1}]})");
  t.start();
  ASSERT_TRUE(t.world.until([&] { return t.load() != nullptr; }));
  t.server.hang("/v1/loads");
  EXPECT_TRUE(t.world.until([&] { return t.load() == nullptr; }, milliseconds(2500)))
      << "before the poll's own 5 s are over";
}

}  // namespace
}  // namespace smg::control
