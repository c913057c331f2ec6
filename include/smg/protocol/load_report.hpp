// Load reports of engines, in the formats they speak. Pure parsers of foreign bytes: any input
// gives a report or an error, numbers that are negative, not finite or absurd count as 0. A ratio a
// little above 1 is 1. Errors blame the upstream side.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "smg/base/error.hpp"

namespace smg::protocol {

struct LoadRow {
  std::int64_t dp_rank = 0;
  std::int64_t num_running_reqs = 0;
  std::int64_t num_waiting_reqs = 0;
  std::int64_t num_waiting_uncached_tokens = 0;
  std::int64_t num_total_reqs = 0;
  std::int64_t num_used_tokens = 0;
  std::int64_t max_total_num_tokens = 0;
  double token_usage = 0;     // 0..1
  double gen_throughput = 0;  // tokens/s
  double cache_hit_rate = 0;  // 0..1
  double utilization = 0;     // 0..1
  std::int64_t max_running_requests = 0;
};

struct LoadReport {
  std::string timestamp;
  std::string version;
  std::vector<LoadRow> rows;  // one per DP rank, at least one
};

// `/loads?model=` of a nested gateway and `/v1/loads` of an engine: {"loads":[row...]}. Rows of
// several workers of a nested gateway are taken as ranks, numbered in order where theirs repeat. An
// empty list is Errc::unavailable (inconclusive), another document, or one of more than 1 MiB, 64
// levels or 4096 rows, Errc::bad_message (the endpoint is absent).
Result<LoadReport> parse_loads_json(std::string_view body);

// `/get_load` of older SGLang: an object or a list of {"num_reqs","num_waiting_reqs","num_tokens"},
// where the first counts the waiting ones too. Limits and errors as above.
Result<LoadReport> parse_get_load_json(std::string_view body);

// Prometheus text of vLLM, SGLang or llama.cpp (names with `:` or `_`): one row. Counts and rates
// are summed over an engine's label sets, ratios averaged. Errc::unavailable when no engine's
// required series is there: KV usage of vLLM, token_usage of SGLang, requests_processing of
// llama.cpp.
struct MetricsLoad {
  LoadReport report;
  // vLLM's running total of prompt tokens, if exported: its rate between polls is a throughput.
  double prompt_tokens_total = -1;
};
Result<MetricsLoad> parse_metrics_text(std::string_view text);

}  // namespace smg::protocol
