// The first byte chooses the parser. Whatever the bytes, a report has sane numbers and at least one
// row.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "smg/protocol/load_report.hpp"

namespace {

using smg::protocol::LoadReport;
using smg::protocol::LoadRow;

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_count(std::int64_t value) { return value >= 0 && value <= std::int64_t{1} << 54; }
bool is_ratio(double value) { return value >= 0 && value <= 1; }

void check(const LoadReport& report) {
  require(!report.rows.empty());
  for (const LoadRow& row : report.rows) {
    require(is_count(row.dp_rank) && is_count(row.num_running_reqs) &&
            is_count(row.num_waiting_reqs) && is_count(row.num_waiting_uncached_tokens) &&
            is_count(row.num_total_reqs) && is_count(row.num_used_tokens) &&
            is_count(row.max_total_num_tokens) && is_count(row.max_running_requests));
    require(is_ratio(row.token_usage) && is_ratio(row.cache_hit_rate) && is_ratio(row.utilization));
    require(row.gen_throughput >= 0 && row.gen_throughput < 1e18);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // Of its exact size on the heap, so that a read past the end is seen.
  const auto exact = std::make_unique<char[]>(size - 1);
  std::copy(data + 1, data + size, exact.get());
  const std::string_view text(exact.get(), size - 1);
  switch (data[0] % 3) {
    case 0:
      if (const auto report = smg::protocol::parse_loads_json(text)) check(*report);
      break;
    case 1:
      if (const auto report = smg::protocol::parse_get_load_json(text)) check(*report);
      break;
    default:
      if (const auto load = smg::protocol::parse_metrics_text(text)) {
        check(load->report);
        require(load->prompt_tokens_total >= -1 && load->prompt_tokens_total < 1e30);
      }
  }
  return 0;
}
