#include "smg/protocol/load_report.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace smg::protocol {
namespace {

LoadReport loads_of(std::string_view body) {
  const auto report = parse_loads_json(body);
  EXPECT_TRUE(report.has_value()) << body;
  return report.has_value() ? *report : LoadReport{{}, {}, {LoadRow{}}};
}

template <class Parse>
void expect_error(Parse parse, std::string_view body, Errc code) {
  const auto result = parse(body);
  ASSERT_TRUE(result.has_error()) << body;
  EXPECT_EQ(result.error().code, code) << body;
  EXPECT_EQ(result.error().side, Side::upstream);
}

TEST(LoadsJson, ReadsEveryFieldOfARow) {
  const LoadReport report = loads_of(
      R"({"timestamp":"2026-08-01T10:00:00Z","version":"0.5.2","dp_rank_count":1,"loads":[
          {"worker":"http://w","dp_rank":3,"num_running_reqs":1,"num_waiting_reqs":2,
           "num_waiting_uncached_tokens":300,"num_total_reqs":4,"num_used_tokens":5000,
           "max_total_num_tokens":60000,"token_usage":0.25,"gen_throughput":812.5,
           "cache_hit_rate":0.5,"utilization":0.75,"max_running_requests":128,
           "disagg":{"mode":"null"},"queues":[1,2]}],"aggregate":{"total":1}})");
  EXPECT_EQ(report.timestamp, "2026-08-01T10:00:00Z");
  EXPECT_EQ(report.version, "0.5.2");
  ASSERT_EQ(report.rows.size(), 1U);
  const LoadRow& row = report.rows[0];
  EXPECT_EQ(row.dp_rank, 3);
  EXPECT_EQ(row.num_running_reqs, 1);
  EXPECT_EQ(row.num_waiting_reqs, 2);
  EXPECT_EQ(row.num_waiting_uncached_tokens, 300);
  EXPECT_EQ(row.num_total_reqs, 4);
  EXPECT_EQ(row.num_used_tokens, 5000);
  EXPECT_EQ(row.max_total_num_tokens, 60000);
  EXPECT_EQ(row.token_usage, 0.25);
  EXPECT_EQ(row.gen_throughput, 812.5);
  EXPECT_EQ(row.cache_hit_rate, 0.5);
  EXPECT_EQ(row.utilization, 0.75);
  EXPECT_EQ(row.max_running_requests, 128);
}

TEST(LoadsJson, TakesAllFieldsAsOptional) {
  const LoadReport report = loads_of(R"({"loads":[{}]})");
  EXPECT_EQ(report.timestamp, "");
  ASSERT_EQ(report.rows.size(), 1U);
  EXPECT_EQ(report.rows[0].num_running_reqs, 0);
  EXPECT_EQ(report.rows[0].token_usage, 0);
}

TEST(LoadsJson, CountsSenselessNumbersAsZero) {
  for (const char* value : {"-1", "-0.5", "1e400", "-1e400", "1e300", "1e-400", "\"7\"", "null",
                            "true", "[5]", "{\"a\":5}", "99999999999999999999"}) {
    const std::string v = value;
    const LoadReport report =
        loads_of("{\"loads\":[{\"num_waiting_reqs\":" + v + ",\"token_usage\":" + v +
                 ",\"gen_throughput\":" + v + ",\"dp_rank\":" + v + "}]}");
    EXPECT_EQ(report.rows[0].num_waiting_reqs, 0) << value;
    EXPECT_EQ(report.rows[0].token_usage, 0) << value;
    EXPECT_EQ(report.rows[0].gen_throughput, 0) << value;
    EXPECT_EQ(report.rows[0].dp_rank, 0) << value;
  }
}

TEST(LoadsJson, CutsCountsAndRatios) {
  const LoadReport report = loads_of(
      R"({"loads":[{"num_waiting_reqs":7.9,"num_used_tokens":9007199254740992,"token_usage":1.02,
          "cache_hit_rate":85.0,"utilization":1}]})");
  EXPECT_EQ(report.rows[0].num_waiting_reqs, 7);
  EXPECT_EQ(report.rows[0].num_used_tokens, 9007199254740992);
  EXPECT_EQ(report.rows[0].token_usage, 1);
  EXPECT_EQ(report.rows[0].cache_hit_rate, 0);
  EXPECT_EQ(report.rows[0].utilization, 1);
}

TEST(LoadsJson, KeepsDistinctRanksAndNumbersRepeatedOnes) {
  LoadReport report = loads_of(R"({"loads":[{"dp_rank":1},{"dp_rank":0},{"dp_rank":5}]})");
  ASSERT_EQ(report.rows.size(), 3U);
  EXPECT_EQ(report.rows[0].dp_rank, 1);
  EXPECT_EQ(report.rows[1].dp_rank, 0);
  EXPECT_EQ(report.rows[2].dp_rank, 5);
  report = loads_of(R"({"loads":[{"worker":"a","dp_rank":0},{"worker":"b","dp_rank":0},
                                 {"worker":"b","dp_rank":1}]})");
  ASSERT_EQ(report.rows.size(), 3U);
  EXPECT_EQ(report.rows[0].dp_rank, 0);
  EXPECT_EQ(report.rows[1].dp_rank, 1);
  EXPECT_EQ(report.rows[2].dp_rank, 2);
}

TEST(LoadsJson, CountsTheLastOfEqualKeys) {
  const LoadReport report = loads_of(
      R"({"loads":5,"version":"a","loads":[{"num_waiting_reqs":1,"num_waiting_reqs":2}],
          "version":"b"})");
  ASSERT_EQ(report.rows.size(), 1U);
  EXPECT_EQ(report.rows[0].num_waiting_reqs, 2);
  EXPECT_EQ(report.version, "b");
}

TEST(LoadsJson, LeavesOutLabelsThatAreNone) {
  const LoadReport report = loads_of("{\"timestamp\":1722500000,\"version\":\"" +
                                     std::string(257, 'v') + "\",\"loads\":[{}]}");
  EXPECT_EQ(report.timestamp, "");
  EXPECT_EQ(report.version, "");
  EXPECT_EQ(loads_of(R"({"version":"1\u002e2","loads":[{}]})").version, "1.2");
}

TEST(LoadsJson, IsInconclusiveWithoutRows) {
  expect_error(parse_loads_json, R"({"loads":[]})", Errc::unavailable);
  expect_error(parse_loads_json, R"({"loads":[{}],"loads":[]})", Errc::unavailable);
}

TEST(LoadsJson, RefusesOtherDocuments) {
  for (const char* body :
       {"", "{}", "[]", "null", "OK", "{\"loads\":5}", "{\"loads\":{}}", "{\"loads\":[5]}",
        "{\"loads\":[{},null]}", "{\"loads\":[{}]", "[{}]", "{\"loads\":[{}]} x", "<html></html>",
        "{\"error\":\"not found\"}", "{\"loads\":[{}],\"loads\":null}"}) {
    expect_error(parse_loads_json, body, Errc::bad_message);
  }
}

TEST(LoadsJson, RefusesWhatIsTooLargeOrDeepOrLong) {
  const auto rows = [](std::size_t count) {
    std::string out = "{\"loads\":[{}";
    for (std::size_t i = 1; i < count; ++i) out += ",{}";
    return out + "]}";
  };
  EXPECT_EQ(loads_of(rows(4096)).rows.size(), 4096U);
  expect_error(parse_loads_json, rows(4097), Errc::bad_message);

  const auto nested = [](std::size_t depth) {
    return "{\"loads\":[{}],\"x\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_EQ(loads_of(nested(63)).rows.size(), 1U);
  expect_error(parse_loads_json, nested(64), Errc::bad_message);
  expect_error(parse_loads_json, std::string(1 << 20, '['), Errc::bad_message);

  const std::string report = R"({"loads":[{}]})";
  const std::string padded = report + std::string((1 << 20) - report.size(), ' ');
  EXPECT_EQ(loads_of(padded).rows.size(), 1U);
  expect_error(parse_loads_json, padded + ' ', Errc::bad_message);
}

TEST(GetLoadJson, ReadsAnObjectOrAList) {
  auto report = parse_get_load_json(R"({"num_reqs":5,"num_waiting_reqs":2,"num_tokens":900})");
  ASSERT_TRUE(report.has_value());
  ASSERT_EQ(report->rows.size(), 1U);
  EXPECT_EQ(report->rows[0].num_total_reqs, 5);
  EXPECT_EQ(report->rows[0].num_waiting_reqs, 2);
  EXPECT_EQ(report->rows[0].num_running_reqs, 3);
  EXPECT_EQ(report->rows[0].num_used_tokens, 900);

  report = parse_get_load_json(R"([{"dp_rank":0,"num_reqs":1,"num_waiting_reqs":0,"num_tokens":7},
                                   {"dp_rank":1,"num_reqs":1,"num_waiting_reqs":4}])");
  ASSERT_TRUE(report.has_value());
  ASSERT_EQ(report->rows.size(), 2U);
  EXPECT_EQ(report->rows[0].num_running_reqs, 1);
  EXPECT_EQ(report->rows[1].dp_rank, 1);
  EXPECT_EQ(report->rows[1].num_waiting_reqs, 4);
  EXPECT_EQ(report->rows[1].num_running_reqs, 0);
  EXPECT_EQ(report->rows[1].num_used_tokens, 0);
}

TEST(GetLoadJson, RefusesOtherDocuments) {
  expect_error(parse_get_load_json, "[]", Errc::unavailable);
  for (const char* body : {"", "{}", "5", "\"x\"", "[5]", "[{}]", "[{\"num_reqs\":1},{}]",
                           "{\"load\":3}", "{\"num_reqs\":1", "{\"dp_rank\":1}"}) {
    expect_error(parse_get_load_json, body, Errc::bad_message);
  }
}

LoadRow metrics_of(std::string_view text) {
  const auto load = parse_metrics_text(text);
  EXPECT_TRUE(load.has_value()) << text;
  if (!load.has_value()) return {};
  EXPECT_EQ(load->report.rows.size(), 1U);
  return load->report.rows.at(0);
}

TEST(MetricsText, ReadsVllm) {
  const auto load = parse_metrics_text(
      "# HELP vllm:num_requests_running Number of requests.\n"
      "# TYPE vllm:num_requests_running gauge\n"
      "vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 3.0\n"
      "vllm:num_requests_running{engine=\"1\",model_name=\"m\"} 4.0\n"
      "vllm:num_requests_waiting{engine=\"0\",model_name=\"m\"} 2.0\n"
      "vllm:num_requests_waiting_by_reason{engine=\"0\",reason=\"capacity\"} 50.0\n"
      "vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"m\"} 0.25\n"
      "vllm:kv_cache_usage_perc{engine=\"1\",model_name=\"m\"} 0.75\n"
      "vllm:prefix_cache_queries_total{engine=\"0\"} 1.0e+06\n"
      "vllm:prefix_cache_hits_total{engine=\"0\"} 250000.0\n"
      "vllm:prompt_tokens_total{engine=\"0\"} 1000\n"
      "vllm:prompt_tokens_total{engine=\"1\"} 234.0\n");
  ASSERT_TRUE(load.has_value());
  EXPECT_EQ(load->prompt_tokens_total, 1234);
  const LoadRow& row = load->report.rows.at(0);
  EXPECT_EQ(row.dp_rank, 0);
  EXPECT_EQ(row.num_running_reqs, 7);
  EXPECT_EQ(row.num_waiting_reqs, 2);
  EXPECT_EQ(row.num_total_reqs, 9);
  EXPECT_EQ(row.token_usage, 0.5);
  EXPECT_EQ(row.cache_hit_rate, 0.25);
  EXPECT_EQ(row.gen_throughput, 0);
}

TEST(MetricsText, ReadsOlderVllm) {
  const auto load = parse_metrics_text(
      "vllm:gpu_cache_usage_perc{model_name=\"m\"} 0.125\n"
      "vllm:gpu_prefix_cache_hit_rate{model_name=\"m\"} 0.5\n"
      "vllm:gpu_prefix_cache_hits_total 1\nvllm:gpu_prefix_cache_queries_total 10\n");
  ASSERT_TRUE(load.has_value());
  EXPECT_EQ(load->report.rows.at(0).token_usage, 0.125);
  EXPECT_EQ(load->report.rows.at(0).cache_hit_rate, 0.5);
  EXPECT_EQ(load->prompt_tokens_total, -1);
}

TEST(MetricsText, ReadsSglang) {
  for (const std::string prefix : {"sglang:", "sglang_"}) {
    const LoadRow row = metrics_of(
        prefix + "num_running_reqs{model_name=\"m\",dp_rank=\"0\"} 8.0\n" + prefix +
        "num_running_reqs{model_name=\"m\",dp_rank=\"1\"} 2.0\n" + prefix + "num_queue_reqs 5\n" +
        prefix + "token_usage{dp_rank=\"0\"} 0.5\n" + prefix + "token_usage{dp_rank=\"1\"} 0.25\n" +
        prefix + "gen_throughput{dp_rank=\"0\"} 100.5\n" + prefix +
        "gen_throughput{dp_rank=\"1\"} 50\n" + prefix + "cache_hit_rate 0.75\n" + prefix +
        "utilization 0.625\n");
    EXPECT_EQ(row.num_running_reqs, 10) << prefix;
    EXPECT_EQ(row.num_waiting_reqs, 5);
    EXPECT_EQ(row.token_usage, 0.375);
    EXPECT_EQ(row.gen_throughput, 150.5);
    EXPECT_EQ(row.cache_hit_rate, 0.75);
    EXPECT_EQ(row.utilization, 0.625);
  }
}

TEST(MetricsText, ReadsLlamaCpp) {
  LoadRow row = metrics_of(
      "llamacpp:requests_processing 2\nllamacpp:requests_deferred 3\n"
      "llamacpp:kv_cache_usage_ratio 0.5\nllamacpp:predicted_tokens_seconds 33.25\n");
  EXPECT_EQ(row.num_running_reqs, 2);
  EXPECT_EQ(row.num_waiting_reqs, 3);
  EXPECT_EQ(row.token_usage, 0.5);
  EXPECT_EQ(row.gen_throughput, 33.25);
  row = metrics_of("llamacpp_requests_processing 1\n");
  EXPECT_EQ(row.num_running_reqs, 1);
  EXPECT_EQ(row.token_usage, 0);
}

TEST(MetricsText, NeedsAnEnginesRequiredSeries) {
  for (const char* text :
       {"", "\n\n", "# only\n# comments", "process_cpu_seconds_total 1\n",
        "vllm:num_requests_running 3\n", "sglang:num_running_reqs 3\n",
        "llamacpp:requests_deferred 3\n", "vllm:kv_cache_usage_perc\n",
        "vllm:kv_cache_usage_perc{a=\"b\"}\n", "vllm:kv_cache_usage_perc{a=\"b\" 0.5\n",
        "vllm:kv_cache_usage_perc{a=\"0.5\n", "vllm:kv_cache_usage_perc abc\n",
        "vllm:kv_cache_usage_perc 0.5x\n", "vllm-kv_cache_usage_perc 0.5\n",
        "xvllm:kv_cache_usage_perc 0.5\n", "vllm:kv_cache_usage_perc_bucket 0.5\n",
        "#vllm:kv_cache_usage_perc 0.5\n", "<html>vllm:kv_cache_usage_perc 0.5</html>"}) {
    expect_error(parse_metrics_text, text, Errc::unavailable);
  }
}

TEST(MetricsText, ReadsAwkwardLines) {
  const LoadRow row = metrics_of(
      "  vllm:kv_cache_usage_perc {model=\"a}b\\\"} 9\\\\\",x=\"{\"}\t+0.5 1722500000000\r\n"
      "vllm:num_requests_waiting{a=\"}\"}7 # {trace=\"x\"} 1.0\n"
      "vllm:num_requests_running{} 1e1\n"
      "vllm:num_requests_running 5 1722500000000");
  EXPECT_EQ(row.token_usage, 0.5);
  EXPECT_EQ(row.num_waiting_reqs, 7);
  EXPECT_EQ(row.num_running_reqs, 15);
}

TEST(MetricsText, CountsSenselessValuesAsZero) {
  for (const std::string value :
       {"NaN", "nan", "+Inf", "-Inf", "Inf", "1e400", "-1e400", "-5", "1e300"}) {
    const auto load = parse_metrics_text(
        "vllm:kv_cache_usage_perc " + value + "\nvllm:num_requests_waiting " + value +
        "\nvllm:num_requests_waiting 4\nvllm:prompt_tokens_total " + value +
        "\nvllm:prefix_cache_queries_total " + value + "\nvllm:prefix_cache_hits_total 5\n");
    ASSERT_TRUE(load.has_value()) << value;
    EXPECT_EQ(load->report.rows.at(0).token_usage, 0) << value;
    EXPECT_EQ(load->report.rows.at(0).num_waiting_reqs, 4) << value;
    EXPECT_EQ(load->report.rows.at(0).cache_hit_rate, 0) << value;
    EXPECT_EQ(load->prompt_tokens_total, 0) << value;
  }
}

TEST(MetricsText, SurvivesHugeLinesAndSums) {
  std::string text = "junk{x=\"" + std::string(1 << 20, '}') + "\n";
  text += "vllm:kv_cache_usage_perc{x=\"" + std::string(1 << 20, 'y') + "\"} 0.5\n";
  for (int i = 0; i < 10; ++i) text += "vllm:num_requests_waiting 9007199254740992\n";
  const LoadRow row = metrics_of(text);
  EXPECT_EQ(row.token_usage, 0.5);
  EXPECT_EQ(row.num_waiting_reqs, 0);
}

}  // namespace
}  // namespace smg::protocol
