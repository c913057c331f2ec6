#include "smg/control/load_sources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smg/control/load_monitor.hpp"

namespace smg::control {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using Kind = LoadAnswer::Kind;

TEST(LoadSources, AreAskedInOrder) {
  LoadSources sources;
  EXPECT_THAT(sources.begin_poll(), ElementsAre(LoadSource::loads, LoadSource::v1_loads,
                                                LoadSource::get_load, LoadSource::metrics));
}

TEST(LoadSources, AnAbsentOneIsAskedAgainTenPollsLater) {
  LoadSources sources;
  sources.begin_poll();
  sources.mark_absent(LoadSource::loads);
  for (int poll = 2; poll <= 10; ++poll) {
    EXPECT_THAT(sources.begin_poll(),
                ElementsAre(LoadSource::v1_loads, LoadSource::get_load, LoadSource::metrics))
        << poll;
  }
  EXPECT_EQ(sources.begin_poll().front(), LoadSource::loads);
}

TEST(LoadTarget, TheModelIsEncoded) {
  EXPECT_EQ(load_target(LoadSource::loads, "org/m 1&x=%é"),
            "/loads?model=org%2Fm%201%26x%3D%25%C3%A9");
  EXPECT_EQ(load_target(LoadSource::loads, "unknown"), "/loads");
  EXPECT_EQ(load_target(LoadSource::v1_loads, "m"), "/v1/loads?include=core,disagg,queues,memory");
}

TEST(LoadAnswer, SaysWhetherTheEndpointIsThere) {
  for (const int status : {404, 405, 501}) {
    EXPECT_EQ(read_load_answer(LoadSource::v1_loads, status, "").kind, Kind::absent) << status;
  }
  for (const int status : {302, 401, 429, 500, 503}) {
    EXPECT_EQ(read_load_answer(LoadSource::v1_loads, status, "").kind, Kind::inconclusive)
        << status;
  }
  EXPECT_EQ(read_load_answer(LoadSource::v1_loads, 200, "<html>").kind, Kind::absent);
  EXPECT_EQ(read_load_answer(LoadSource::v1_loads, 200, R"({"loads":[]})").kind,
            Kind::inconclusive);
  const auto report =
      read_load_answer(LoadSource::loads, 200, R"({"loads":[{"num_running_reqs":3}]})");
  ASSERT_EQ(report.kind, Kind::report);
  EXPECT_EQ(report.report.rows.at(0).num_running_reqs, 3);
}

TEST(LoadAnswer, ReadsTheOlderFormAndMetrics) {
  const auto older = read_load_answer(LoadSource::get_load, 200,
                                      R"({"num_reqs":5,"num_waiting_reqs":2,"num_tokens":9})");
  ASSERT_EQ(older.kind, Kind::report);
  EXPECT_EQ(older.report.rows.at(0).num_waiting_reqs, 2);
  const auto metrics = read_load_answer(
      LoadSource::metrics, 200,
      "vllm:num_requests_running{m=\"a\"} 4\nvllm:num_requests_waiting{m=\"a\"} 1\n"
      "vllm:kv_cache_usage_perc{m=\"a\"} 0.5\nvllm:prompt_tokens_total{m=\"a\"} 1000\n");
  ASSERT_EQ(metrics.kind, Kind::report);
  EXPECT_EQ(metrics.prompt_tokens_total, 1000);
  EXPECT_EQ(read_load_answer(LoadSource::metrics, 200, "up 1\n").kind, Kind::absent);
}

TEST(TokenRate, IsTheDifferenceOverTime) {
  TokenRate rate;
  const TimePoint t0{seconds(100)};
  EXPECT_EQ(rate.update(1000, t0), 0);
  EXPECT_DOUBLE_EQ(rate.update(3000, t0 + seconds(4)), 500);
  EXPECT_EQ(rate.update(10, t0 + seconds(5)), 0) << "the engine restarted";
  EXPECT_DOUBLE_EQ(rate.update(30, t0 + seconds(6)), 20);
  EXPECT_EQ(rate.update(60, t0 + seconds(6)), 0);
}

TEST(Overload, EitherSignalIsEnoughAndLimitsAreInclusive) {
  protocol::LoadReport report;
  report.rows.resize(2);
  report.rows[0].num_waiting_reqs = 3;
  report.rows[1].num_waiting_reqs = 2;
  report.rows[0].token_usage = 0.9;
  report.rows[1].token_usage = 0.5;
  OverloadOptions limits;
  EXPECT_FALSE(overloaded(report, limits));
  limits.waiting_requests = 5;
  EXPECT_TRUE(overloaded(report, limits));
  limits.waiting_requests = 6;
  EXPECT_FALSE(overloaded(report, limits));
  limits.token_usage = 0.7;
  EXPECT_TRUE(overloaded(report, limits));
}

}  // namespace
}  // namespace smg::control
