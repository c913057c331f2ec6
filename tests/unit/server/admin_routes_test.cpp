// The control plane's routes over HTTP: the listener on one thread, the plane on another.
#include "smg/server/admin_routes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>

#include "smg/metrics/registry.hpp"
#include "smg/server/listener.hpp"
#include "smg/upstream/fetch.hpp"
#include "support/scripted_server.hpp"

namespace smg::server {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class AdminRoutes : public testing::Test {
 protected:
  AdminRoutes() {
    control::Options options;
    options.drain_settle = std::chrono::milliseconds(0);
    control::Sources sources{control_.context, control_.deadlines, fleet_,  registry_,
                             loads_,           indexes_,           metrics_};
    plane_.emplace(sources, options);
    table_.emplace(admin_routes(*plane_));
    listener_.emplace(
        std::vector<IoThread*>{&io_}, SessionOptions{},
        [this](std::size_t) -> const RouteTable& { return *table_; }, nullptr);
    EXPECT_TRUE(listener_->open("127.0.0.1", 0));
    plane_->start({});
    thread_ = std::jthread([this] { control_.context.run(); });
  }

  ~AdminRoutes() override {
    std::promise<void> stopped;
    plane_->stop([&stopped] { stopped.set_value(); });
    EXPECT_EQ(stopped.get_future().wait_for(std::chrono::seconds(2)), std::future_status::ready);
    control_.context.stop();
    thread_.join();
    listener_->stop();
    io_.context.restart();
    io_.context.run_for(std::chrono::milliseconds(100));
  }

  upstream::FetchResponse call(const std::string& method, const std::string& target,
                               std::string body = {}) {
    upstream::FetchRequest request;
    request.method = method;
    request.url = *parse_url("http://127.0.0.1:" + std::to_string(listener_->port()));
    request.target = target;
    request.body = std::move(body);
    std::optional<Result<upstream::FetchResponse>> answer;
    asio::co_spawn(io_.context, upstream::fetch(connector_, std::move(request)),
                   [&answer](const std::exception_ptr&, Result<upstream::FetchResponse> done) {
                     answer.emplace(std::move(done));
                   });
    EXPECT_TRUE(test::run_until(io_.context, [&answer] { return answer.has_value(); }));
    if (!answer || !*answer) {
      ADD_FAILURE() << (answer ? answer->error().detail : "no answer");
      return {};
    }
    return **answer;
  }

  static std::string header(const upstream::FetchResponse& response, std::string_view name) {
    for (const auto& [key, value] : response.headers) {
      if (protocol::iequals(key, name)) return value;
    }
    return {};
  }

  worker::Fleet fleet_;
  policy::PrefixIndexes indexes_{16, 1000};
  Snapshot<worker::LoadTable> loads_{std::make_shared<const worker::LoadTable>()};
  worker::Registry registry_{fleet_, {}};
  metrics::Registry metrics_;
  IoThread control_;
  IoThread io_;
  asio::executor_work_guard<asio::io_context::executor_type> busy_{control_.context.get_executor()};
  std::optional<control::Plane> plane_;
  upstream::Connector connector_{io_.context, io_.deadlines, std::chrono::seconds(1)};
  std::optional<RouteTable> table_;
  std::optional<Listener> listener_;
  std::jthread thread_;
};

TEST_F(AdminRoutes, AWorkerIsCreatedReadChangedAndRemoved) {
  const auto created = call("POST", "/workers", R"({"url":"http://127.0.0.1:1"})");
  ASSERT_EQ(created.status, 202);
  const std::string location = header(created, "location");
  EXPECT_THAT(location, HasSubstr("/workers/"));
  EXPECT_EQ(json::parse(created.body)["location"], location);
  EXPECT_EQ(header(created, "content-type"), "application/json");

  EXPECT_EQ(call("PATCH", location, R"({"priority":3})").status, 202);
  EXPECT_EQ(json::parse(call("GET", location).body)["priority"], 3);
  EXPECT_EQ(call("PUT", location, R"({"url":"http://127.0.0.1:1","cost":2})").status, 202);
  EXPECT_EQ(json::parse(call("GET", location).body)["priority"], 50);
  EXPECT_EQ(json::parse(call("GET", "/workers").body)["total"], 1);
  EXPECT_EQ(json::parse(call("GET", "/workers?model=absent").body)["total"], 0);

  EXPECT_EQ(call("DELETE", location).status, 202);
  const auto gone = call("GET", location);
  EXPECT_EQ(gone.status, 404);
  EXPECT_EQ(header(gone, "x-smg-error-code"), "worker_not_found");
  EXPECT_EQ(json::parse(gone.body)["code"], "WORKER_NOT_FOUND");
}

TEST_F(AdminRoutes, ErrorsOfTheWorkerApiHaveItsShape) {
  const auto bad = call("POST", "/workers", "{");
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(header(bad, "x-smg-error-code"), "bad_request");
  EXPECT_EQ(json::parse(bad.body)["code"], "BAD_REQUEST");
}

TEST_F(AdminRoutes, ProbesModelsAndLoadsAnswer) {
  EXPECT_EQ(call("GET", "/health").body, "OK");
  EXPECT_EQ(call("GET", "/liveness").body, "OK");
  EXPECT_EQ(call("GET", "/readiness").status, 503);
  const auto models = call("GET", "/v1/models");
  EXPECT_EQ(models.status, 503);
  EXPECT_EQ(json::parse(models.body)["error"]["code"], "no_available_workers");
  EXPECT_EQ(json::parse(call("GET", "/loads").body)["dp_rank_count"], 0);
  EXPECT_EQ(json::parse(call("GET", "/get_loads?model=m").body)["loads"], json::array());
  const auto flushed = call("POST", "/flush_cache");
  EXPECT_EQ(flushed.status, 200);
  EXPECT_EQ(json::parse(flushed.body)["total_workers"], 0);
}

TEST_F(AdminRoutes, WhatChangesSomethingIsForAdminsAndProbesAreForAll) {
  std::map<std::string, Access> access;
  for (const Route& route : admin_routes(*plane_)) {
    access[route.method + " " + route.path] = route.access;
  }
  for (const char* name : {"POST /workers", "PUT /workers/{id}", "PATCH /workers/{id}",
                           "DELETE /workers/{id}", "POST /flush_cache"}) {
    EXPECT_EQ(access.at(name), Access::admin) << name;
  }
  for (const char* name : {"GET /workers", "GET /workers/{id}", "GET /get_loads"}) {
    EXPECT_EQ(access.at(name), Access::keyed) << name;
  }
  for (const char* name :
       {"GET /loads", "GET /v1/models", "GET /health", "GET /liveness", "GET /readiness"}) {
    EXPECT_EQ(access.at(name), Access::open) << name;
  }
}

TEST(QueryValue, IsDecodedAndTheFirstOfItsName) {
  EXPECT_EQ(query_value("model=org%2Fm+1&model=x", "model"), "org/m 1");
  EXPECT_EQ(query_value("a=1&model=m", "model"), "m");
  EXPECT_EQ(query_value("mod%65l=m", "model"), "m");
  EXPECT_EQ(query_value("model=100%&b", "model"), "100%");
  EXPECT_EQ(query_value("model=%zz%4", "model"), "%zz%4");
  EXPECT_EQ(query_value("model", "model"), "");
  EXPECT_EQ(query_value("", "model"), "");
  EXPECT_EQ(query_value("models=m", "model"), "");
}

}  // namespace
}  // namespace smg::server
