#include "smg/app/mock_status.hpp"

#include <gtest/gtest.h>

#include "smg/protocol/load_report.hpp"

namespace smg::app {
namespace {

MockLoad busy() {
  MockLoad load;
  load.running = 3;
  load.waiting = 2;
  load.waiting_uncached_tokens = 500;
  load.used_tokens = 250;
  load.capacity_tokens = 1000;
  load.prompt_tokens_total = 800;
  load.cached_tokens_total = 200;
  return load;
}

// What gateways read of it, through the parsers that read real engines.
TEST(MockStatus, LoadsAreThoseOfSglang) {
  MockOptions options;
  options.tokens_per_s = 100;
  const auto report = protocol::parse_loads_json(mock_loads(options, busy()));
  ASSERT_TRUE(report);
  ASSERT_EQ(report->rows.size(), 1U);
  const auto& row = report->rows[0];
  EXPECT_EQ(row.num_running_reqs, 3);
  EXPECT_EQ(row.num_waiting_reqs, 2);
  EXPECT_EQ(row.num_waiting_uncached_tokens, 500);
  EXPECT_DOUBLE_EQ(row.token_usage, 0.25);
  EXPECT_DOUBLE_EQ(row.gen_throughput, 300);
  EXPECT_DOUBLE_EQ(row.cache_hit_rate, 0.25);
}

TEST(MockStatus, MetricsAreThoseOfVllm) {
  MockOptions options;
  options.model = "a \"quoted\" name}";
  const auto metrics = protocol::parse_metrics_text(mock_metrics(options, busy()));
  ASSERT_TRUE(metrics);
  EXPECT_EQ(metrics->report.rows.at(0).num_running_reqs, 3);
  EXPECT_EQ(metrics->report.rows.at(0).num_waiting_reqs, 2);
  EXPECT_DOUBLE_EQ(metrics->report.rows.at(0).token_usage, 0.25);
  EXPECT_DOUBLE_EQ(metrics->prompt_tokens_total, 800);
}

TEST(MockStatus, ModelsNameTheRuntime) {
  MockOptions options;
  options.runtime = "sglang";
  EXPECT_NE(mock_models(options, 1).find(R"("owned_by":"sglang")"), std::string::npos);
}

}  // namespace
}  // namespace smg::app
