#include "smg/metrics/request_metrics.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace smg::metrics {
namespace {

constexpr PathId kChat = 0;
constexpr PathId kModels = 1;
constexpr ErrorId kNotFound = 0;
constexpr ErrorId kConnectFailed = 1;
constexpr ErrorId kTimeout = 2;

class RequestMetricsTest : public testing::Test {
 protected:
  // The sample lines of one metric, without HELP and TYPE.
  std::string samples(const std::string& name) const {
    const std::string text = registry_.expose();
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at) + 1;
      const std::string line = text.substr(at, end - at);
      if (line.starts_with(name + "{") || line.starts_with(name + " ")) out += line;
      at = end;
    }
    return out;
  }

  Registry registry_;
  RequestMetrics metrics_{registry_,
                          {.paths = {"/v1/chat/completions", "/v1/models"},
                           .errors = {{"model_not_found", 404},
                                      {"upstream_connect_failed", 502},
                                      {"upstream_timeout", 504}},
                           .policies = {"random", "cache_aware"}}};
};

TEST_F(RequestMetricsTest, RequestsAreCountedByMethodAndPath) {
  metrics_.count_request(kChat, Method::post);
  metrics_.count_request(kChat, Method::post);
  metrics_.count_request(kModels, Method::get);
  metrics_.count_request(metrics_.other_path(), method_of("BREW"));
  EXPECT_EQ(samples("smg_http_requests_total"),
            "smg_http_requests_total{method=\"GET\",path=\"/v1/models\"} 1\n"
            "smg_http_requests_total{method=\"POST\",path=\"/v1/chat/completions\"} 2\n"
            "smg_http_requests_total{method=\"other\",path=\"other\"} 1\n");
}

TEST_F(RequestMetricsTest, AnswersAreCountedByStatusAndTheGatewaysOwnByCode) {
  metrics_.count_response(kChat, 200);
  metrics_.count_response(kChat, 200);
  metrics_.count_response(kChat, 404);
  metrics_.count_response(kChat, 599);
  metrics_.count_response(kChat, 600);
  metrics_.count_response(kChat, 99);
  metrics_.count_gateway_error(kChat, kNotFound);
  metrics_.count_gateway_error(metrics_.other_path(), kTimeout);
  const std::string chat = "smg_http_responses_total{path=\"/v1/chat/completions\",status_code=";
  EXPECT_EQ(samples("smg_http_responses_total"),
            chat + "\"200\",error_code=\"\"} 2\n" +                     //
                chat + "\"404\",error_code=\"\"} 1\n" +                 //
                chat + "\"404\",error_code=\"model_not_found\"} 1\n" +  //
                chat + "\"599\",error_code=\"\"} 1\n" +                 //
                chat + "\"other\",error_code=\"\"} 2\n" +
                "smg_http_responses_total{path=\"other\",status_code=\"504\","
                "error_code=\"upstream_timeout\"} 1\n");
}

TEST_F(RequestMetricsTest, TheTimeToTheHeadIsAHistogram) {
  metrics_.observe_head_ready(kModels, Method::get, 0.02);
  EXPECT_EQ(samples("smg_http_request_duration_seconds_sum"),
            "smg_http_request_duration_seconds_sum{method=\"GET\",path=\"/v1/models\"} 0.02\n");
}

TEST_F(RequestMetricsTest, ActiveRequestsAreShownFromTheStart) {
  EXPECT_EQ(samples("smg_http_connections_active"), "smg_http_connections_active 0\n");
  metrics_.active_requests().add(1);
  EXPECT_EQ(samples("smg_http_connections_active"), "smg_http_connections_active 1\n");
}

TEST_F(RequestMetricsTest, AttemptsOfStatus500AndAboveAreWorkerErrors) {
  metrics_.count_attempt(200);
  metrics_.count_attempt(429);
  metrics_.count_attempt(500);
  metrics_.count_failed_attempt(kConnectFailed);
  metrics_.count_failed_attempt(kTimeout);
  const std::string outcome = "smg_router_upstream_responses_total{router_type=\"http\",";
  EXPECT_EQ(samples("smg_router_upstream_responses_total"),
            outcome + "status_code=\"200\",error_code=\"\"} 1\n" +  //
                outcome + "status_code=\"429\",error_code=\"\"} 1\n" + outcome +
                "status_code=\"500\",error_code=\"\"} 1\n" + outcome +
                "status_code=\"502\",error_code=\"upstream_connect_failed\"} 1\n" + outcome +
                "status_code=\"504\",error_code=\"upstream_timeout\"} 1\n");
  const std::string error =
      "smg_worker_errors_total{worker_type=\"regular\",connection_mode=\"http\",error_type=";
  EXPECT_EQ(samples("smg_worker_errors_total"),
            error + "\"backend_error\"} 2\n" + error + "\"timeout\"} 1\n");
}

TEST_F(RequestMetricsTest, RetriesAreCountedByEndpointAndTheirBackoffByAttempt) {
  metrics_.count_retry(Endpoint::chat, 1, 0.05);
  metrics_.count_retry(Endpoint::chat, 2, 0.1);
  metrics_.count_retry(Endpoint::rerank, 40, 1);
  metrics_.count_retries_exhausted(Endpoint::chat);
  metrics_.count_send_retry();
  EXPECT_EQ(samples("smg_worker_retries_total"),
            "smg_worker_retries_total{worker_type=\"regular\",endpoint=\"chat\"} 2\n"
            "smg_worker_retries_total{worker_type=\"regular\",endpoint=\"rerank\"} 1\n");
  EXPECT_EQ(samples("smg_worker_retry_backoff_seconds_sum"),
            "smg_worker_retry_backoff_seconds_sum{attempt=\"1\"} 0.05\n"
            "smg_worker_retry_backoff_seconds_sum{attempt=\"2\"} 0.1\n"
            "smg_worker_retry_backoff_seconds_sum{attempt=\"other\"} 1\n");
  EXPECT_EQ(samples("smg_worker_retries_exhausted_total"),
            "smg_worker_retries_exhausted_total{worker_type=\"regular\",endpoint=\"chat\"} 1\n");
  EXPECT_EQ(samples("smg_router_upstream_send_retries_total"),
            "smg_router_upstream_send_retries_total{router_type=\"http\"} 1\n");
}

TEST_F(RequestMetricsTest, HealthChecksAreCountedByResult) {
  metrics_.count_health_check(true);
  metrics_.count_health_check(true);
  metrics_.count_health_check(false);
  EXPECT_EQ(samples("smg_worker_health_checks_total"),
            "smg_worker_health_checks_total{worker_type=\"regular\",result=\"failure\"} 1\n"
            "smg_worker_health_checks_total{worker_type=\"regular\",result=\"success\"} 2\n");
}

TEST_F(RequestMetricsTest, TheCacheAwareChoiceIsCountedByBranchAndMatchRatio) {
  metrics_.count_cache_aware(CacheAwareBranch::tree_match, 0.85);
  metrics_.count_cache_aware(CacheAwareBranch::spill, 0);
  EXPECT_EQ(samples("smg_cache_aware_policy_branch_total"),
            "smg_cache_aware_policy_branch_total{branch=\"spill\"} 1\n"
            "smg_cache_aware_policy_branch_total{branch=\"tree_match\"} 1\n");
  EXPECT_EQ(samples("smg_cache_aware_match_ratio_bucket"),
            "smg_cache_aware_match_ratio_bucket{le=\"0\"} 1\n"
            "smg_cache_aware_match_ratio_bucket{le=\"0.1\"} 1\n"
            "smg_cache_aware_match_ratio_bucket{le=\"0.2\"} 1\n"
            "smg_cache_aware_match_ratio_bucket{le=\"0.3\"} 1\n"
            "smg_cache_aware_match_ratio_bucket{le=\"0.4\"} 1\n"
            "smg_cache_aware_match_ratio_bucket{le=\"0.5\"} 1\n"
            "smg_cache_aware_match_ratio_bucket{le=\"0.6\"} 1\n"
            "smg_cache_aware_match_ratio_bucket{le=\"0.7\"} 1\n"
            "smg_cache_aware_match_ratio_bucket{le=\"0.8\"} 1\n"
            "smg_cache_aware_match_ratio_bucket{le=\"0.9\"} 2\n"
            "smg_cache_aware_match_ratio_bucket{le=\"1\"} 2\n"
            "smg_cache_aware_match_ratio_bucket{le=\"+Inf\"} 2\n");
}

TEST_F(RequestMetricsTest, TheRouterCountsByModel) {
  ModelMetrics& llama = metrics_.model("llama");
  llama.count_request(Endpoint::chat, true);
  llama.count_request(Endpoint::chat, false);
  llama.observe_duration(Endpoint::chat, 1.5);
  llama.count_error(Endpoint::chat, error_type_of(400));
  llama.count_selection(1);
  const std::string labels =
      "router_type=\"http\",backend_type=\"regular\",connection_mode=\"http\","
      "model=\"llama\",endpoint=\"chat\"";
  EXPECT_EQ(samples("smg_router_requests_total"),
            "smg_router_requests_total{" + labels + ",streaming=\"false\"} 1\n" +
                "smg_router_requests_total{" + labels + ",streaming=\"true\"} 1\n");
  EXPECT_EQ(samples("smg_router_request_duration_seconds_sum"),
            "smg_router_request_duration_seconds_sum{" + labels + "} 1.5\n");
  EXPECT_EQ(samples("smg_router_request_errors_total"),
            "smg_router_request_errors_total{" + labels + ",error_type=\"validation_error\"} 1\n");
  EXPECT_EQ(samples("smg_worker_selection_total"),
            "smg_worker_selection_total{worker_type=\"regular\",connection_mode=\"http\","
            "model=\"llama\",policy=\"cache_aware\"} 1\n");
}

TEST_F(RequestMetricsTest, AModelIsFoundAgain) {
  EXPECT_EQ(&metrics_.model("a"), &metrics_.model("a"));
  EXPECT_NE(&metrics_.model("a"), &metrics_.model("b"));
  EXPECT_EQ(metrics_.model("a").model(), "a");
}

TEST_F(RequestMetricsTest, TooManyAndTooLongModelNamesShareOneEntry) {
  EXPECT_EQ(metrics_.model(std::string(257, 'x')).model(), "other");
  for (std::size_t i = 0; i < ModelTable::kMaxModels; ++i) {
    const std::string name = "model-" + std::to_string(i);
    EXPECT_EQ(metrics_.model(name).model(), name);
  }
  EXPECT_EQ(metrics_.model("one more").model(), "other");
  EXPECT_EQ(metrics_.model("model-7").model(), "model-7");
}

TEST_F(RequestMetricsTest, ManyThreadsMayMeetAtTheFirstUse) {
  constexpr int kThreads = 4;
  constexpr int kModelsEach = 200;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([this] {
        for (int i = 0; i < kModelsEach; ++i) {
          metrics_.model("m" + std::to_string(i)).count_request(Endpoint::chat, false);
          metrics_.count_response(kChat, 200 + i);
        }
      });
    }
  }
  EXPECT_NE(samples("smg_router_requests_total")
                .find("model=\"m199\",endpoint=\"chat\","
                      "streaming=\"false\"} 4\n"),
            std::string::npos);
  EXPECT_NE(samples("smg_http_responses_total").find("status_code=\"399\",error_code=\"\"} 4\n"),
            std::string::npos);
}

TEST(ErrorType, FollowsTheStatus) {
  EXPECT_EQ(error_type_of(400), ErrorType::validation_error);
  EXPECT_EQ(error_type_of(404), ErrorType::no_workers);
  EXPECT_EQ(error_type_of(408), ErrorType::timeout);
  EXPECT_EQ(error_type_of(504), ErrorType::timeout);
  EXPECT_EQ(error_type_of(500), ErrorType::backend_error);
  EXPECT_EQ(error_type_of(503), ErrorType::backend_error);
  EXPECT_EQ(error_type_of(429), ErrorType::internal_error);
}

}  // namespace
}  // namespace smg::metrics
