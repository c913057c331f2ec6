#include "smg/control/worker_body.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smg::control {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string fault_of(std::string_view body, const Options& options = {}) {
  const auto request = parse_worker_request(body, options);
  return request ? "accepted" : request.error().detail;
}

TEST(WorkerBody, OnlyTheUrlIsRequired) {
  const auto request = parse_worker_request(R"({"url":"http://w:8000/"})", {});
  ASSERT_TRUE(request);
  EXPECT_EQ(request->spec.url.text, "http://w:8000");
  EXPECT_EQ(request->spec.priority, 50U);
  EXPECT_EQ(request->spec.cost, 1.0);
  EXPECT_FALSE(request->spec.health);
  EXPECT_FALSE(request->spec.breaker);
  EXPECT_THAT(request->spec.models, IsEmpty());
  EXPECT_THAT(request->ignored, IsEmpty());
  EXPECT_THAT(fault_of("{}"), HasSubstr("field 'url' is required"));
  EXPECT_THAT(fault_of(R"({"url":null})"), HasSubstr("field 'url' is required"));
}

TEST(WorkerBody, EverySettingIsTaken) {
  Options defaults;
  defaults.health.timeout = seconds(9);
  defaults.breaker.window = seconds(77);
  const auto request = parse_worker_request(R"({"url":"https://w","runtime_type":"vllm",
    "worker_type":"regular","connection_mode":"http","api_key":"k-1","priority":7,"cost":2.5,
    "models":[{"id":"m","aliases":["a"],"context_length":4096,"model_type":["chat"]}],
    "labels":{"zone":"b"},"load_monitor_interval_secs":3,
    "health":{"check_interval_secs":11,"success_threshold":4,"failure_threshold":5,
      "disable_health_check":true,"drain_settle_secs":0},
    "resilience":{"cb_failure_threshold":2,"cb_success_threshold":1,"cb_timeout_secs":6,
      "disable_circuit_breaker":true},
    "overload":{"waiting_requests":8,"token_usage":0.75}})",
                                            defaults);
  ASSERT_TRUE(request) << request.error().detail;
  const worker::WorkerSpec& spec = request->spec;
  EXPECT_EQ(spec.runtime, "vllm");
  EXPECT_EQ(spec.api_key, "k-1");
  EXPECT_EQ(spec.priority, 7U);
  EXPECT_EQ(spec.cost, 2.5);
  ASSERT_EQ(spec.models.size(), 1U);
  EXPECT_EQ(spec.models[0].id, "m");
  EXPECT_THAT(spec.models[0].aliases, ElementsAre("a"));
  EXPECT_EQ(spec.models[0].context_length, 4096U);
  EXPECT_EQ(spec.labels.at("zone"), "b");
  EXPECT_EQ(spec.load_monitor_interval, seconds(3));
  EXPECT_EQ(spec.health->timeout, seconds(9));
  EXPECT_EQ(spec.health->interval, seconds(11));
  EXPECT_EQ(spec.health->success_threshold, 4U);
  EXPECT_EQ(spec.health->failure_threshold, 5U);
  EXPECT_TRUE(spec.health->disabled);
  EXPECT_EQ(request->drain_settle, seconds(0));
  EXPECT_EQ(spec.breaker->failure_threshold, 2U);
  EXPECT_EQ(spec.breaker->success_threshold, 1U);
  EXPECT_EQ(spec.breaker->timeout, seconds(6));
  EXPECT_EQ(spec.breaker->window, seconds(77));
  EXPECT_TRUE(spec.breaker->disabled);
  EXPECT_EQ(request->overload.waiting_requests, 8U);
  EXPECT_EQ(request->overload.token_usage, 0.75);
}

TEST(WorkerBody, AFaultNamesTheFieldAndWhatItMayBe) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"{", "not valid JSON"},
      {"[]", "must be a JSON object"},
      {R"({"url":7})", "field 'url' must be a string"},
      {R"({"url":"file:///etc/passwd"})", "field 'url' is not a worker's address"},
      {R"({"url":"ftp://x"})", "field 'url'"},
      {R"({"url":"http://"})", "field 'url'"},
      {R"({"url":"http://u:p@127.0.0.1:1"})", "field 'url'"},
      {R"({"url":"http://a b"})", "field 'url'"},
      {R"({"url":"http://w","priority":-1})", "field 'priority' must be an integer between 0 and"},
      {R"({"url":"http://w","priority":1.5})", "field 'priority'"},
      {R"({"url":"http://w","priority":"1"})", "field 'priority'"},
      {R"({"url":"http://w","priority":4294967296})", "between 0 and 4294967295"},
      {R"({"url":"http://w","cost":-0.5})", "field 'cost' must be a number of at least 0"},
      {R"({"url":"http://w","labels":["a"]})", "field 'labels' must be an object"},
      {R"({"url":"http://w","labels":{"a":1}})", "field 'labels' must map names to strings"},
      {R"({"url":"http://w","labels":{"a":null}})", "field 'labels'"},
      {R"({"url":"http://w","models":"m"})", "field 'models' must be a list"},
      {R"({"url":"http://w","models":["m"]})", "field 'models' must be a list of objects"},
      {R"({"url":"http://w","models":[{}]})", "field 'models[].id'"},
      {R"({"url":"http://w","models":[{"id":"m","context_length":0}]})",
       "field 'models[].context_length'"},
      {R"({"url":"http://w","models":[{"id":"m","aliases":[1]}]})", "field 'models[].aliases'"},
      {R"({"url":"http://w","api_key":"a\r\nx: y"})", "field 'api_key'"},
      {R"({"url":"http://w","worker_type":"prefill"})", "field 'worker_type' must be \"regular\""},
      {R"({"url":"http://w","connection_mode":"grpc"})", "field 'connection_mode'"},
      {R"({"url":"http://w","runtime":"magic"})", "field 'runtime' must be one of"},
      {R"({"url":"http://w","health":{"timeout_secs":0}})",
       "field 'health.timeout_secs' must be an integer between 1 and 3600"},
      {R"({"url":"http://w","health":{"disable_health_check":1}})",
       "field 'health.disable_health_check' must be true or false"},
      {R"({"url":"http://w","resilience":{"cb_timeout_secs":0}})",
       "field 'resilience.cb_timeout_secs'"},
      {R"({"url":"http://w","overload":{"token_usage":1.5}})", "field 'overload.token_usage'"},
      {R"({"url":"http://w","load_monitor_interval_secs":0})",
       "field 'load_monitor_interval_secs' must be an integer between 1 and 86400"},
  };
  for (const auto& [body, fault] : faults) EXPECT_THAT(fault_of(body), HasSubstr(fault)) << body;
}

TEST(WorkerBody, LinkLocalAddressesNeedTheOption) {
  const char* body = R"({"url":"http://169.254.169.254/latest"})";
  EXPECT_THAT(fault_of(body), HasSubstr("--allow-link-local-workers"));
  Options options;
  options.allow_link_local = true;
  EXPECT_EQ(fault_of(body, options), "accepted");
}

TEST(WorkerBody, FieldsWithoutASettingAreListed) {
  const auto request = parse_worker_request(R"({"url":"http://w","http_pool":{"timeout_secs":1},
    "colour":"red","resilience":{"max_retries":3},"id":"x","status":"ready","load":0})",
                                            {});
  ASSERT_TRUE(request);
  EXPECT_THAT(request->ignored,
              testing::UnorderedElementsAre("http_pool", "colour", "resilience.max_retries"));
}

WorkerRequest present() {
  auto request = parse_worker_request(R"({"url":"http://w","labels":{"a":"1","b":"2"},"priority":9,
    "api_key":"old","models":[{"id":"m"}],"health":{"timeout_secs":2}})",
                                      {});
  return *request;
}

TEST(WorkerPatch, ChangesWhatItNamesAndKeepsTheRest) {
  const auto patched = patch_worker_request(
      R"({"cost":3,"labels":{"b":null,"c":"3"},"health":{"failure_threshold":8}})", present(), {});
  ASSERT_TRUE(patched) << patched.error().detail;
  EXPECT_EQ(patched->spec.priority, 9U);
  EXPECT_EQ(patched->spec.cost, 3.0);
  EXPECT_EQ(patched->spec.api_key, "old");
  EXPECT_EQ(patched->spec.labels, (std::map<std::string, std::string>{{"a", "1"}, {"c", "3"}}));
  EXPECT_EQ(patched->spec.health->timeout, seconds(2));
  EXPECT_EQ(patched->spec.health->failure_threshold, 8U);
  EXPECT_EQ(patched->spec.models.size(), 1U);
}

TEST(WorkerPatch, RefusesWhatTakesAPut) {
  for (const char* body : {R"({"url":"http://x"})", R"({"models":[]})", R"({"overload":{}})"}) {
    const auto patched = patch_worker_request(body, present(), {});
    ASSERT_FALSE(patched) << body;
    EXPECT_THAT(patched.error().detail, HasSubstr("cannot be patched"));
  }
}

}  // namespace
}  // namespace smg::control
