#include "smg/protocol/load_report.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "load_number.hpp"
#include "smg/protocol/json_scanner.hpp"

namespace smg::protocol {
namespace {

constexpr std::size_t max_body = 1 << 20;
constexpr std::size_t max_nesting = 64;
constexpr std::size_t max_rows = 4096;
constexpr std::size_t max_label = 256;  // bytes of a timestamp or version

Error bad_document(std::string detail) {
  return {Errc::bad_message, Side::upstream, Retry::never, std::move(detail)};
}

Error no_rows() {
  return {Errc::unavailable, Side::upstream, Retry::never, "load report without rows"};
}

// Consumes a value; 0 if it is no number.
double read_number(JsonScanner& scanner) {
  JsonNumber number;
  if (scanner.kind() != JsonKind::number) {
    scanner.skip_value();
    return 0;
  }
  return scanner.read_number(number) ? read_double(number.raw).value_or(0) : 0;
}

// Consumes a value; empty if it is no string, or one too long to be what it should.
std::string read_label(JsonScanner& scanner) {
  JsonString string;
  if (scanner.kind() != JsonKind::string) {
    scanner.skip_value();
    return {};
  }
  if (!scanner.read_string(string) || string.raw.size() > max_label) return {};
  std::string storage;
  return std::string(unescaped(string, storage));
}

struct CountField {
  std::string_view key;
  std::int64_t LoadRow::*field;
};
constexpr CountField count_fields[] = {
    {"dp_rank", &LoadRow::dp_rank},
    {"num_running_reqs", &LoadRow::num_running_reqs},
    {"num_waiting_reqs", &LoadRow::num_waiting_reqs},
    {"num_waiting_uncached_tokens", &LoadRow::num_waiting_uncached_tokens},
    {"num_total_reqs", &LoadRow::num_total_reqs},
    {"num_used_tokens", &LoadRow::num_used_tokens},
    {"max_total_num_tokens", &LoadRow::max_total_num_tokens},
    {"max_running_requests", &LoadRow::max_running_requests},
};

struct RealField {
  std::string_view key;
  double LoadRow::*field;
  double (*sane)(double);
};
constexpr RealField real_fields[] = {
    {"token_usage", &LoadRow::token_usage, sane_ratio},
    {"gen_throughput", &LoadRow::gen_throughput, sane_rate},
    {"cache_hit_rate", &LoadRow::cache_hit_rate, sane_ratio},
    {"utilization", &LoadRow::utilization, sane_ratio},
};

void read_row_member(JsonScanner& scanner, const JsonString& key, LoadRow& row) {
  for (const auto& [name, field] : count_fields) {
    if (equals(key, name)) {
      row.*field = sane_count(read_number(scanner));
      return;
    }
  }
  for (const auto& [name, field, sane] : real_fields) {
    if (equals(key, name)) {
      row.*field = sane(read_number(scanner));
      return;
    }
  }
  scanner.skip_value();
}

// A row of /v1/loads at the cursor, which is an object. All its fields are optional.
bool read_loads_row(JsonScanner& scanner, LoadRow& row) {
  scanner.enter();
  JsonString key;
  while (scanner.next_key(key)) read_row_member(scanner, key, row);
  return true;
}

// A row of /get_load; false if it has none of that document's fields.
bool read_get_load_row(JsonScanner& scanner, LoadRow& row) {
  bool known = false;
  scanner.enter();
  JsonString key;
  while (scanner.next_key(key)) {
    std::int64_t LoadRow::*field = nullptr;
    if (equals(key, "num_reqs")) field = &LoadRow::num_total_reqs;
    if (equals(key, "num_waiting_reqs")) field = &LoadRow::num_waiting_reqs;
    if (equals(key, "num_tokens")) field = &LoadRow::num_used_tokens;
    known = known || field != nullptr;
    if (equals(key, "dp_rank")) field = &LoadRow::dp_rank;
    if (field != nullptr) {
      row.*field = sane_count(read_number(scanner));
    } else {
      scanner.skip_value();
    }
  }
  row.num_running_reqs = std::max<std::int64_t>(0, row.num_total_reqs - row.num_waiting_reqs);
  return known;
}

// Reads the array of rows at the cursor; false if an element is no row or there are too many.
template <class ReadRow>
bool read_rows(JsonScanner& scanner, ReadRow read_row, std::vector<LoadRow>& rows) {
  rows.clear();
  bool good = true;
  scanner.enter();
  while (scanner.next_element()) {
    if (!good || rows.size() == max_rows || scanner.kind() != JsonKind::object) {
      good = false;
      scanner.skip_value();
      continue;
    }
    good = read_row(scanner, rows.emplace_back());
  }
  return good;
}

// Ranks of several workers may be the same number; in a report each row is a rank of its own.
void make_ranks_unique(std::vector<LoadRow>& rows) {
  std::vector<std::int64_t> ranks;
  ranks.reserve(rows.size());
  for (const LoadRow& row : rows) ranks.push_back(row.dp_rank);
  std::sort(ranks.begin(), ranks.end());
  if (std::adjacent_find(ranks.begin(), ranks.end()) == ranks.end()) return;
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].dp_rank = static_cast<std::int64_t>(i);
}

Result<LoadReport> finished(JsonScanner& scanner, bool good, LoadReport report) {
  if (!scanner.finish()) {
    return bad_document(std::string("load report is not valid JSON: ") + scanner.reason());
  }
  if (!good) return bad_document("not a load report");
  if (report.rows.empty()) return no_rows();
  make_ranks_unique(report.rows);
  return report;
}

}  // namespace

Result<LoadReport> parse_loads_json(std::string_view body) {
  if (body.size() > max_body) return bad_document("load report too large");
  JsonScanner scanner(body, max_nesting);
  if (scanner.kind() != JsonKind::object) return bad_document("not a load report");
  LoadReport report;
  bool good = false;
  scanner.enter();
  JsonString key;
  while (scanner.next_key(key)) {
    if (equals(key, "loads")) {
      good = scanner.kind() == JsonKind::array;
      if (good) {
        good = read_rows(scanner, read_loads_row, report.rows);
      } else {
        scanner.skip_value();
      }
    } else if (equals(key, "timestamp")) {
      report.timestamp = read_label(scanner);
    } else if (equals(key, "version")) {
      report.version = read_label(scanner);
    } else {
      scanner.skip_value();
    }
  }
  return finished(scanner, good, std::move(report));
}

Result<LoadReport> parse_get_load_json(std::string_view body) {
  if (body.size() > max_body) return bad_document("load report too large");
  JsonScanner scanner(body, max_nesting);
  LoadReport report;
  bool good = false;
  const JsonKind kind = scanner.kind();
  if (kind == JsonKind::array) {
    good = read_rows(scanner, read_get_load_row, report.rows);
  } else if (kind == JsonKind::object) {
    good = read_get_load_row(scanner, report.rows.emplace_back());
  } else {
    return bad_document("not a load report");
  }
  return finished(scanner, good, std::move(report));
}

}  // namespace smg::protocol
