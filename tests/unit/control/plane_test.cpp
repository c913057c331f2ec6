#include "smg/control/plane.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smg/control/permits.hpp"
#include "smg/control/task_group.hpp"
#include "unit/control/plane_world.hpp"

namespace smg::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::ScriptedServer;
using testing::HasSubstr;
using testing::Not;

TEST(Plane, AUrlGivenTwiceCountsOnce) {
  PlaneWorld world;
  world.start({PlaneWorld::spec("http://127.0.0.1:1"), PlaneWorld::spec("http://127.0.0.1:1/")});
  ASSERT_TRUE(world.until([&] { return world.worker("http://127.0.0.1:1") != nullptr; }));
  EXPECT_EQ(world.registry.workers().load()->size(), 1U);
}

TEST(Plane, EvictionKeepsTheBudgetAndThenTheGaugesTell) {
  Options options = PlaneWorld::quick();
  options.eviction_interval = milliseconds(30);
  PlaneWorld world(options);
  auto& index = world.indexes.of("m");
  for (int i = 0; i < 50; ++i) {
    index.strings.match_and_insert(std::to_string(i) + std::string(100, 'x'),
                                   [](const auto&) { return index::TenantId{3}; });
  }
  ASSERT_GT(index.strings.size(), 1000U);
  world.start();
  ASSERT_TRUE(world.until([&] {
    return world.metrics.expose().find("smg_cache_tree_chars{model=\"m\"}") != std::string::npos;
  }));
  EXPECT_LE(index.strings.size(), 1000U);
  const std::string text = world.metrics.expose();
  EXPECT_THAT(
      text, HasSubstr("smg_cache_tree_chars{model=\"m\"} " + std::to_string(index.strings.size())));
  EXPECT_THAT(text, HasSubstr(R"(smg_cache_tree_tenants{model="m",tree="string"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(smg_cache_tree_tokens{model="m"} 0)"));
}

TEST(Plane, AWorkersSeriesAreThereAndGoWithIt) {
  PlaneWorld world;
  ScriptedServer server(world.context);
  serve_model(server, "m");
  server.answer("/v1/loads", 200, R"({"loads":[{"num_running_reqs":3,"num_waiting_reqs":2}]})");
  world.start({PlaneWorld::spec(server)});
  const std::string url = server.url();
  ASSERT_TRUE(world.until([&] {
    return world.metrics.expose().find("smg_engine_running_requests{") != std::string::npos;
  }));
  const auto worker = world.worker(url);
  auto ticket = worker::Ticket::acquire(world.fleet, worker, Clock::now());
  const std::string text = world.metrics.expose();
  EXPECT_THAT(text, HasSubstr("smg_worker_requests_active{worker=\"" + url + "\"} 1"));
  EXPECT_THAT(text, HasSubstr("smg_worker_health{worker=\"" + url + "\"} 1"));
  EXPECT_THAT(text, HasSubstr("smg_worker_cb_state{worker=\"" + url + "\"} 0"));
  EXPECT_THAT(
      text,
      HasSubstr(
          R"(smg_worker_pool_size{worker_type="regular",connection_mode="http",model="m"} 1)"));
  EXPECT_THAT(text, HasSubstr("smg_engine_waiting_requests{worker=\"" + url +
                              "\",model=\"m\",dp_rank=\"0\"} 2"));
  ticket.reset();
  world.run(world.plane->admin().remove_worker(worker->uuid));
  ASSERT_TRUE(world.until([&] { return !world.worker(url); }));
  EXPECT_THAT(world.metrics.expose(), Not(HasSubstr(url)));
}

TEST(Plane, MayBeDestroyedWithoutAStop) {
  PlaneWorld world;
  ScriptedServer server(world.context);
  server.hang("/health");
  server.hang("/v1/models");
  world.start({PlaneWorld::spec(server)});
  ASSERT_TRUE(world.until([&] { return server.count("/health") == 1; }));
  world.plane.reset();
}

struct Turns {
  asio::io_context context{1};
  Lifetime life;
  std::size_t at_once = 0;
  std::size_t most = 0;
  std::size_t done = 0;
};

awaitable<void> take_turn(Permits& permits, Turns& turns) {
  const auto permit = co_await permits.acquire(turns.life);
  if (!permit) co_return;
  turns.most = std::max(turns.most, ++turns.at_once);
  Pulse pulse(turns.context);
  co_await pulse.wait(turns.life, milliseconds(1));
  --turns.at_once;
  ++turns.done;
}

TEST(Permits, AtMostThatManyAtATimeAndAllGetTheirTurn) {
  Turns turns;
  Permits permits(turns.context, 3);
  TaskGroup tasks(turns.context);
  for (int i = 0; i < 10; ++i) tasks.spawn(take_turn(permits, turns));
  EXPECT_TRUE(test::run_until(turns.context, [&] { return turns.done == 10; }));
  EXPECT_EQ(turns.most, 3U);
}

TEST(Lifetime, ItsEndWakesWhoeverWaits) {
  Turns turns;
  Permits permits(turns.context, 0);
  TaskGroup tasks(turns.context);
  for (int i = 0; i < 4; ++i) tasks.spawn(take_turn(permits, turns));
  turns.context.poll();
  bool idle = false;
  tasks.when_idle([&idle] { idle = true; });
  EXPECT_FALSE(idle);
  turns.life.end();
  EXPECT_TRUE(test::run_until(
      turns.context, [&] { return idle; }, seconds(1)));
  EXPECT_EQ(turns.done, 0U);
}

}  // namespace
}  // namespace smg::control
