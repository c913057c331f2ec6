#include "smg/control/admin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/control/plane_world.hpp"

namespace smg::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::ScriptedServer;
using testing::HasSubstr;
using testing::Not;
using worker::WorkerStatus;

constexpr const char* kNobody = "11111111-2222-3333-4444-555555555555";

struct AdminTest : testing::Test {
  std::unique_ptr<PlaneWorld> made = std::make_unique<PlaneWorld>();
  PlaneWorld& world = *made;
  Admin& admin = world.plane->admin();

  Reply create(const std::string& body) { return world.run(admin.create_worker(body)); }
  std::string add_ready(ScriptedServer& server, const std::string& model) {
    serve_model(server, model);
    const Reply reply = create(R"({"url":")" + server.url() + R"("})");
    EXPECT_EQ(reply.status, 202) << reply.body;
    EXPECT_TRUE(world.until([&] { return world.ready(server.url()); }));
    return PlaneWorld::json(reply)["worker_id"];
  }
  nlohmann::json get(const std::string& id) { return PlaneWorld::json(admin.get_worker(id)); }
};

TEST_F(AdminTest, AWorkerIsAcceptedAtOnceAndShown) {
  world.start();
  const Reply reply = create(R"({"url":"http://127.0.0.1:1/","api_key":"sekret","colour":"red"})");
  ASSERT_EQ(reply.status, 202);
  const auto body = PlaneWorld::json(reply);
  const std::string id = body["worker_id"];
  EXPECT_EQ(body["status"], "accepted");
  EXPECT_EQ(body["url"], "http://127.0.0.1:1");
  EXPECT_EQ(body["location"], "/workers/" + id);
  EXPECT_EQ(body["message"], "Worker addition queued for background processing");
  EXPECT_EQ(body["ignored_fields"], nlohmann::json({"colour"}));
  ASSERT_EQ(reply.headers.size(), 1U);
  EXPECT_EQ(reply.headers[0], std::pair(std::string("location"), "/workers/" + id));

  const auto shown = get(id);
  EXPECT_EQ(shown["id"], id);
  EXPECT_EQ(shown["model_id"], "unknown");
  EXPECT_EQ(shown["status"], "pending");
  EXPECT_EQ(shown["is_healthy"], false);
  EXPECT_EQ(shown["priority"], 50);
  EXPECT_EQ(shown["load"], 0);
  EXPECT_THAT(admin.get_worker(id).body, Not(HasSubstr("sekret")));
  EXPECT_THAT(admin.list_workers("").body, Not(HasSubstr("sekret")));
}

TEST_F(AdminTest, ABadBodyIs400AndADuplicate409) {
  world.start();
  const Reply bad = create(R"({"url":"http://u:p@h"})");
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(bad.error_code, "bad_request");
  EXPECT_EQ(PlaneWorld::json(bad)["code"], "BAD_REQUEST");
  EXPECT_TRUE(PlaneWorld::json(bad)["error"].is_string());
  EXPECT_EQ(create(R"({"url":"http://127.0.0.1:1"})").status, 202);
  const Reply again = create(R"({"url":"http://127.0.0.1:1/"})");
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(PlaneWorld::json(again)["code"], "WORKER_ALREADY_EXISTS");
}

TEST_F(AdminTest, AnIdThatIsNoneOrNobodys) {
  world.start();
  EXPECT_EQ(admin.get_worker("7").status, 400);
  EXPECT_THAT(admin.get_worker("7").body, HasSubstr("expected UUID"));
  EXPECT_EQ(admin.get_worker(kNobody).status, 404);
  EXPECT_EQ(PlaneWorld::json(admin.get_worker(kNobody))["code"], "WORKER_NOT_FOUND");
  EXPECT_EQ(world.run(admin.remove_worker("x")).status, 400);
  EXPECT_EQ(world.run(admin.remove_worker(kNobody)).status, 404);
  EXPECT_EQ(world.run(admin.patch_worker(kNobody, "{}")).status, 404);
  EXPECT_EQ(world.run(admin.replace_worker(kNobody, "{}")).status, 404);
}

TEST_F(AdminTest, ListsWorkersOfAModel) {
  ScriptedServer a(world.context);
  ScriptedServer b(world.context);
  world.start();
  add_ready(a, "alpha");
  add_ready(b, "beta");
  EXPECT_EQ(PlaneWorld::json(admin.list_workers(""))["total"], 2);
  const auto beta = PlaneWorld::json(admin.list_workers("beta"));
  EXPECT_EQ(beta["total"], 1);
  EXPECT_EQ(beta["stats"]["regular_count"], 1);
  EXPECT_EQ(beta["workers"][0]["url"], b.url());
  EXPECT_EQ(beta["workers"][0]["is_healthy"], true);
  EXPECT_EQ(beta["workers"][0]["runtime_type"], "vllm");
  EXPECT_EQ(PlaneWorld::json(admin.list_workers("gamma"))["total"], 0);
}

TEST_F(AdminTest, PatchMergesAndPutReplaces) {
  ScriptedServer server(world.context);
  world.start();
  const std::string id = add_ready(server, "m");
  EXPECT_EQ(world.run(admin.patch_worker(id, R"({"priority":7,"labels":{"zone":"b"}})")).status,
            202);
  EXPECT_EQ(get(id)["priority"], 7);
  EXPECT_EQ(get(id)["labels"]["zone"], "b");
  EXPECT_EQ(get(id)["status"], "ready") << "a change does not take it out of service";
  EXPECT_EQ(world.run(admin.patch_worker(id, R"({"priority":"high"})")).status, 400);

  const Reply other = world.run(admin.replace_worker(id, R"({"url":"http://other"})"));
  EXPECT_EQ(other.status, 400);
  EXPECT_THAT(other.body, HasSubstr("URL mismatch"));
  const std::string body = R"({"url":")" + server.url() + R"(","cost":4})";
  EXPECT_EQ(world.run(admin.replace_worker(id, body)).status, 202);
  EXPECT_EQ(get(id)["priority"], 50);
  EXPECT_EQ(get(id)["cost"], 4.0);
  EXPECT_FALSE(get(id)["labels"].contains("zone"));
  EXPECT_EQ(get(id)["status"], "ready");
}

TEST_F(AdminTest, ANewKeyIsUsedFromTheNextProbe) {
  ScriptedServer server(world.context);
  world.start();
  const std::string id = add_ready(server, "m");
  EXPECT_EQ(world.run(admin.patch_worker(id, R"({"api_key":"new"})")).status, 202);
  EXPECT_TRUE(
      world.until([&] { return server.last("/health")->header("authorization") == "Bearer new"; },
                  milliseconds(900)))
      << "at once, not after the interval";
}

TEST_F(AdminTest, AReadyWorkerDrainsUntilItsRequestsHaveEnded) {
  ScriptedServer server(world.context);
  world.start();
  const std::string id = add_ready(server, "m");
  const auto worker = world.worker(server.url());
  auto ticket = worker::Ticket::acquire(world.fleet, worker, Clock::now());
  ASSERT_TRUE(ticket);
  const Reply reply = world.run(admin.remove_worker(id));
  EXPECT_EQ(reply.status, 202);
  EXPECT_EQ(get(id)["status"], "draining");
  EXPECT_NE(world.fleet.blocked(worker->id) & worker::kNotReady, 0) << "no new request at once";
  EXPECT_EQ(create(R"({"url":")" + server.url() + R"("})").status, 409);
  EXPECT_EQ(world.run(admin.patch_worker(id, "{}")).status, 409);
  EXPECT_EQ(world.run(admin.remove_worker(id)).status, 202) << "again changes nothing";
  EXPECT_FALSE(world.until([&] { return !world.worker(server.url()); }, milliseconds(300)));
  ticket.reset();
  EXPECT_TRUE(world.until([&] { return !world.worker(server.url()); }, seconds(1)));
  EXPECT_EQ(admin.get_worker(id).status, 404);
}

TEST_F(AdminTest, AWorkerThatIsNotReadyGoesAtOnceAndMayComeAgain) {
  world.start();
  const std::string url = "http://127.0.0.1:1";
  const std::string id = PlaneWorld::json(create(R"({"url":")" + url + R"("})"))["worker_id"];
  EXPECT_EQ(world.run(admin.remove_worker(id)).status, 202);
  EXPECT_EQ(admin.get_worker(id).status, 404);
  EXPECT_EQ(create(R"({"url":")" + url + R"("})").status, 202);
}

TEST_F(AdminTest, ModelsAreTheUnionSortedWhateverTheState) {
  ScriptedServer a(world.context);
  ScriptedServer b(world.context);
  world.start();
  const Reply none = admin.models();
  EXPECT_EQ(none.status, 503);
  EXPECT_EQ(none.error, protocol::ErrorCode::no_available_workers);
  add_ready(a, "zeta");
  add_ready(b, "alpha");
  a.answer("/health", 500);
  ASSERT_TRUE(world.until([&] { return !world.ready(a.url()); }, seconds(4)));
  const Reply reply = admin.models();
  EXPECT_EQ(reply.status, 200);
  const auto body = PlaneWorld::json(reply);
  ASSERT_EQ(body["data"].size(), 2U);
  EXPECT_EQ(body["data"][0]["id"], "alpha");
  EXPECT_EQ(body["data"][1]["id"], "zeta");
  EXPECT_EQ(body["data"][0]["owned_by"], "self_hosted");
}

TEST_F(AdminTest, ReadinessCountsReadyWorkersAndEndsWithDraining) {
  ScriptedServer server(world.context);
  world.start();
  EXPECT_EQ(admin.readiness().status, 503);
  EXPECT_EQ(admin.readiness().body,
            R"({"status":"not ready","reason":"insufficient healthy workers"})");
  add_ready(server, "m");
  create(R"({"url":"http://127.0.0.1:1"})");
  EXPECT_EQ(admin.readiness().status, 200);
  EXPECT_EQ(admin.readiness().body, R"({"status":"ready","healthy_workers":1,"total_workers":2})");
  admin.set_draining();
  EXPECT_EQ(admin.readiness().body, R"({"status":"not ready","reason":"draining"})");
  EXPECT_EQ(admin.liveness().body, "OK");
}

TEST_F(AdminTest, LoadsHaveARowForEachRankAndAnAggregate) {
  ScriptedServer server(world.context);
  world.start();
  const auto none = PlaneWorld::json(admin.loads(""));
  EXPECT_EQ(none["dp_rank_count"], 0);
  EXPECT_FALSE(none.contains("aggregate"));
  server.answer("/v1/loads", 200, R"({"loads":[
    {"dp_rank":0,"num_running_reqs":3,"num_waiting_reqs":2,"token_usage":0.1234,"utilization":0.5},
    {"dp_rank":1,"num_running_reqs":4,"num_waiting_reqs":1,"token_usage":0.25}]})");
  const std::string id = add_ready(server, "m");
  ASSERT_TRUE(world.until([&] { return get(id).contains("engine_load"); }));
  const auto body = PlaneWorld::json(admin.loads("m"));
  ASSERT_EQ(body["loads"].size(), 2U);
  EXPECT_EQ(body["loads"][1]["worker"], server.url());
  EXPECT_EQ(body["loads"][1]["dp_rank"], 1);
  EXPECT_EQ(body["aggregate"]["total_running_reqs"], 7);
  EXPECT_EQ(body["aggregate"]["total_reqs"], 10);
  EXPECT_EQ(body["aggregate"]["avg_token_usage"], 0.1867);
  EXPECT_EQ(body["aggregate"]["avg_utilization"], 0.25);
  EXPECT_EQ(PlaneWorld::json(admin.loads("other"))["dp_rank_count"], 0);
  EXPECT_EQ(get(id)["engine_load"]["loads"].size(), 2U);
}

TEST_F(AdminTest, FlushReachesEveryWorkerAndClearsTheIndexes) {
  ScriptedServer good(world.context);
  ScriptedServer bad(world.context);
  world.start();
  const Reply none = world.run(admin.flush_cache());
  EXPECT_EQ(none.status, 200);
  EXPECT_EQ(PlaneWorld::json(none)["message"], "No workers available for cache flush");
  const std::string id = add_ready(good, "m");
  world.run(admin.patch_worker(id, R"({"api_key":"k"})"));
  good.answer("/flush_cache", 200);
  world.indexes.of("m").strings.match_and_insert(
      "prompt", [&](const auto&) { return world.worker(good.url())->id; });
  const auto all = PlaneWorld::json(world.run(admin.flush_cache()));
  EXPECT_EQ(all["message"], "Successfully flushed cache on all 1 workers");
  EXPECT_EQ(all["workers_flushed"], 1);
  EXPECT_EQ(good.last("/flush_cache")->method, "POST");
  EXPECT_EQ(good.last("/flush_cache")->header("authorization"), "Bearer k");
  EXPECT_EQ(world.indexes.of("m").strings.size(), 0U);

  add_ready(bad, "m");
  const Reply part = world.run(admin.flush_cache());
  EXPECT_EQ(part.status, 206);
  const auto body = PlaneWorld::json(part);
  EXPECT_EQ(body["status"], "partial_success");
  EXPECT_EQ(body["message"], "Cache flush: 1 succeeded, 1 failed");
  EXPECT_EQ(body["successful"], nlohmann::json({good.url()}));
  EXPECT_EQ(body["failed"][0]["worker"], bad.url());
  EXPECT_EQ(body["failed"][0]["error"], "HTTP 404");
}

TEST_F(AdminTest, StopEndsAFlushThatIsNeverAnswered) {
  ScriptedServer server(world.context);
  world.start();
  add_ready(server, "m");
  server.hang("/flush_cache");
  bool done = false;
  asio::co_spawn(world.context, admin.flush_cache(),
                 [&done](const std::exception_ptr&, const Reply& reply) {
                   done = true;
                   EXPECT_EQ(reply.status, 206);
                 });
  ASSERT_TRUE(world.until([&] { return server.count("/flush_cache") == 1; }));
  EXPECT_TRUE(world.stop());
  EXPECT_TRUE(world.until([&] { return done; }, seconds(1)));
  EXPECT_EQ(create(R"({"url":"http://late"})").status, 503);
}

}  // namespace
}  // namespace smg::control
