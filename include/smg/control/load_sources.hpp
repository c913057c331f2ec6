// Where a worker's load is read from: which endpoints to ask, and what an answer means. Pure.
//
// Order: /loads?model=, /v1/loads, /get_load, /metrics; the first report counts. An endpoint that
// is absent (404, 405, 501, or a document of another kind) is left out of the next kAbsentPolls - 1
// polls and asked again at the one after.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "smg/base/clock.hpp"
#include "smg/protocol/load_report.hpp"

namespace smg::control {

enum class LoadSource : std::uint8_t { loads, v1_loads, get_load, metrics };
inline constexpr std::size_t kLoadSources = 4;

// The request target; `model` "unknown" asks for all models.
std::string load_target(LoadSource source, std::string_view model);

struct LoadAnswer {
  enum class Kind : std::uint8_t { report, absent, inconclusive };
  Kind kind = Kind::inconclusive;
  protocol::LoadReport report;      // with Kind::report
  double prompt_tokens_total = -1;  // of vLLM's metrics, else negative
};
LoadAnswer read_load_answer(LoadSource source, int status, std::string_view body);

class LoadSources {
 public:
  static constexpr std::uint64_t kAbsentPolls = 10;

  // The sources of the next poll, in order.
  std::vector<LoadSource> begin_poll();
  void mark_absent(LoadSource source);

 private:
  std::uint64_t poll_ = 0;
  std::array<std::uint64_t, kLoadSources> next_try_{};  // by source: the poll that asks again
};

// A counter's rate between two polls.
class TokenRate {
 public:
  // Tokens/s since the last call; 0 at the first one, when the counter went back or time stands.
  double update(double total, TimePoint now);

 private:
  double last_ = -1;
  TimePoint at_{};
};

// Percent-encodes all but unreserved characters.
std::string url_encode(std::string_view text);

}  // namespace smg::control
