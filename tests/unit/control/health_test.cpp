// Probes and discovery against real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/control/plane_world.hpp"

namespace smg::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::ScriptedServer;
using worker::WorkerStatus;

TEST(Health, AWorkerIsReadyAfterItsFirstGoodProbeAndItsModelIsKnown) {
  PlaneWorld world;
  ScriptedServer server(world.context);
  serve_model(server, "llama");
  auto spec = PlaneWorld::spec(server);
  spec.api_key = "worker-key";
  world.start({spec});
  ASSERT_TRUE(world.until([&] { return world.ready(server.url()); }, seconds(2)));
  EXPECT_EQ(server.count("/health"), 1U);
  EXPECT_EQ(world.worker(server.url())->model_id(), "llama");
  EXPECT_NE(world.registry.workers().load()->find_model("llama"), nullptr);
  EXPECT_EQ(server.last("/health")->header("authorization"), "Bearer worker-key");
  EXPECT_EQ(server.last("/v1/models")->header("authorization"), "Bearer worker-key");
  EXPECT_EQ(world.fleet.blocked(world.worker(server.url())->id), 0);
}

TEST(Health, AProbeWithoutAKeyCarriesNone) {
  PlaneWorld world;
  ScriptedServer server(world.context);
  serve_model(server, "m");
  world.start({PlaneWorld::spec(server)});
  ASSERT_TRUE(world.until([&] { return world.ready(server.url()); }));
  EXPECT_EQ(server.last("/health")->header("authorization"), "");
}

TEST(Health, ADeadWorkerDoesNotDelayTheOthersAndJoinsWhenItIsThere) {
  PlaneWorld world;
  ScriptedServer live(world.context);
  ScriptedServer late(world.context);
  serve_model(live, "a");
  serve_model(late, "b");
  late.refuse();
  world.start({PlaneWorld::spec(late), PlaneWorld::spec(live)});
  ASSERT_TRUE(world.until([&] { return world.ready(live.url()); }, seconds(2)));
  EXPECT_TRUE(world.has_status(late.url(), WorkerStatus::pending));
  late.listen();
  ASSERT_TRUE(world.until([&] { return world.ready(late.url()); }, seconds(5)));
  EXPECT_EQ(world.worker(late.url())->model_id(), "b");
}

TEST(Health, AModelListThatHangsDelaysReadinessByAboutASecondOnly) {
  PlaneWorld world;
  ScriptedServer server(world.context);
  server.answer("/health", 200);
  server.hang("/v1/models");
  world.start({PlaneWorld::spec(server)});
  ASSERT_TRUE(world.until([&] { return world.ready(server.url()); }, milliseconds(2500)));
  EXPECT_EQ(world.worker(server.url())->model_id(), "unknown");
}

TEST(Health, AWorkerWithoutAnyDescriptionIsReadyAtOnceAsUnknown) {
  PlaneWorld world;
  ScriptedServer server(world.context);
  server.answer("/health", 200);
  world.start({PlaneWorld::spec(server)});
  ASSERT_TRUE(world.until([&] { return world.ready(server.url()); }, milliseconds(900)));
  EXPECT_EQ(world.worker(server.url())->runtime(), "generic");
  EXPECT_EQ(server.count("/get_server_info"), 1U) << "the older name is asked after a 404";
}

TEST(Health, AModelThatTheSpecNamesNeedsNoAnswer) {
  PlaneWorld world;
  ScriptedServer server(world.context);
  server.answer("/health", 200);
  server.hang("/v1/models");
  auto spec = PlaneWorld::spec(server);
  spec.labels["served_model_name"] = "named";
  world.start({spec});
  ASSERT_TRUE(world.until([&] { return world.ready(server.url()); }, milliseconds(900)));
  EXPECT_EQ(world.worker(server.url())->model_id(), "named");
}

TEST(Health, AFailingWorkerLeavesAndComesBackByItself) {
  PlaneWorld world;
  ScriptedServer server(world.context);
  serve_model(server, "m");
  world.start({PlaneWorld::spec(server)});
  ASSERT_TRUE(world.until([&] { return world.ready(server.url()); }));
  server.answer("/health", 503);
  ASSERT_TRUE(world.until([&] { return world.has_status(server.url(), WorkerStatus::not_ready); },
                          seconds(4)));
  EXPECT_NE(world.fleet.blocked(world.worker(server.url())->id) & worker::kNotReady, 0);
  EXPECT_NE(world.registry.workers().load()->find_model("m"), nullptr) << "the model stays known";
  serve_model(server, "other");
  ASSERT_TRUE(world.until([&] { return world.ready(server.url()); }, seconds(4)));
  EXPECT_TRUE(
      world.until([&] { return world.worker(server.url())->model_id() == "other"; }, seconds(2)))
      << "a worker that comes back is asked again";
}

TEST(Health, ARedirectIsNotHealthyAndNotFollowed) {
  PlaneWorld world;
  ScriptedServer server(world.context);
  ScriptedServer target(world.context);
  const std::string there = target.url() + "/secret";
  server.on("/health", [there](const test::SeenRequest&) {
    test::Answer answer;
    answer.status = 302;
    answer.headers.emplace_back("Location", there);
    return answer;
  });
  world.start({PlaneWorld::spec(server)});
  ASSERT_TRUE(world.until([&] { return server.count("/health") >= 2; }, seconds(5)));
  EXPECT_TRUE(world.has_status(server.url(), WorkerStatus::pending));
  EXPECT_TRUE(target.requests().empty());
}

TEST(Health, AWorkerSeenRestartedIsPurgedFromTheIndexes) {
  PlaneWorld world;
  ScriptedServer server(world.context);
  serve_model(server, "m");
  world.start({PlaneWorld::spec(server)});
  ASSERT_TRUE(world.until([&] { return world.ready(server.url()); }));
  const auto id = world.worker(server.url())->id;
  auto& index = world.indexes.of("m");
  index.strings.match_and_insert("a prompt", [&](const auto&) { return id; });
  ASSERT_EQ(index.strings.tenant_count(), 1U);
  server.refuse();
  ASSERT_TRUE(world.until([&] { return !world.ready(server.url()); }, seconds(4)));
  EXPECT_EQ(index.strings.tenant_count(), 1U) << "down is not yet restarted";
  server.listen();
  ASSERT_TRUE(world.until([&] { return world.ready(server.url()); }, seconds(5)));
  EXPECT_EQ(index.strings.tenant_count(), 0U);
}

TEST(Health, AWorkerThatWasOnlyUnhealthyKeepsItsPrefixes) {
  PlaneWorld world;
  ScriptedServer server(world.context);
  serve_model(server, "m");
  world.start({PlaneWorld::spec(server)});
  ASSERT_TRUE(world.until([&] { return world.ready(server.url()); }));
  const auto id = world.worker(server.url())->id;
  auto& index = world.indexes.of("m");
  index.strings.match_and_insert("a prompt", [&](const auto&) { return id; });
  server.answer("/health", 503);
  ASSERT_TRUE(world.until([&] { return !world.ready(server.url()); }, seconds(4)));
  server.answer("/health", 200);
  ASSERT_TRUE(world.until([&] { return world.ready(server.url()); }, seconds(4)));
  EXPECT_EQ(index.strings.tenant_count(), 1U);
}

TEST(Health, DisabledChecksMakeWorkersReadyWithoutAProbe) {
  Options options = PlaneWorld::quick();
  options.health.disabled = true;
  PlaneWorld world(options);
  ScriptedServer server(world.context);
  serve_model(server, "m");
  world.start({PlaneWorld::spec(server)});
  ASSERT_TRUE(world.until([&] { return world.ready(server.url()); }, seconds(1)));
  ASSERT_TRUE(
      world.until([&] { return world.worker(server.url())->model_id() == "m"; }, seconds(2)));
  EXPECT_EQ(server.count("/health"), 0U);
}

TEST(Health, AFailedWorkerIsRemovedWhenAskedFor) {
  Options options = PlaneWorld::quick();
  options.remove_unhealthy = true;
  PlaneWorld world(options);
  ScriptedServer server(world.context);
  serve_model(server, "m");
  world.start({PlaneWorld::spec(server)});
  ASSERT_TRUE(world.until([&] { return world.ready(server.url()); }));
  server.answer("/health", 500);
  EXPECT_TRUE(world.until([&] { return !world.worker(server.url()); }, seconds(10)));
}

TEST(Health, StopEndsEverythingWhileAWorkerNeverAnswers) {
  PlaneWorld world;
  ScriptedServer server(world.context);
  server.hang("/health");
  server.hang("/v1/models");
  world.start({PlaneWorld::spec(server), PlaneWorld::spec("http://127.0.0.1:1")});
  ASSERT_TRUE(world.until([&] { return server.count("/health") == 1; }));
  EXPECT_TRUE(world.stop());
}

TEST(Health, EveryProbeIsTold) {
  Options options = PlaneWorld::quick();
  std::vector<bool> results;
  options.on_probe = [&results](bool healthy) { results.push_back(healthy); };
  PlaneWorld world(options);
  ScriptedServer server(world.context);
  server.answer("/health", 500);
  world.start({PlaneWorld::spec(server)});
  ASSERT_TRUE(world.until([&] { return !results.empty(); }));
  server.answer("/health", 200);
  ASSERT_TRUE(world.until([&] { return results.size() >= 2; }, seconds(4)));
  EXPECT_THAT(results, testing::ElementsAre(false, true));
}

}  // namespace
}  // namespace smg::control
