#include "smg/control/load_sources.hpp"

#include <utility>

namespace smg::control {

std::string url_encode(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const bool unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                            (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
    if (unreserved) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

std::string load_target(LoadSource source, std::string_view model) {
  switch (source) {
    case LoadSource::loads:
      return model == "unknown" ? "/loads" : "/loads?model=" + url_encode(model);
    case LoadSource::v1_loads:
      return "/v1/loads?include=core,disagg,queues,memory";
    case LoadSource::get_load:
      return "/get_load";
    case LoadSource::metrics:
      break;
  }
  return "/metrics";
}

namespace {

LoadAnswer from_json(Result<protocol::LoadReport> report) {
  LoadAnswer answer;
  if (report) {
    answer.kind = LoadAnswer::Kind::report;
    answer.report = std::move(*report);
  } else if (report.error().code == Errc::bad_message) {
    answer.kind = LoadAnswer::Kind::absent;
  }
  return answer;
}

LoadAnswer from_metrics(std::string_view body) {
  LoadAnswer answer;
  Result<protocol::MetricsLoad> load = protocol::parse_metrics_text(body);
  if (!load) {
    answer.kind = LoadAnswer::Kind::absent;
    return answer;
  }
  answer.kind = LoadAnswer::Kind::report;
  answer.report = std::move(load->report);
  answer.prompt_tokens_total = load->prompt_tokens_total;
  return answer;
}

}  // namespace

LoadAnswer read_load_answer(LoadSource source, int status, std::string_view body) {
  LoadAnswer answer;
  if (status == 404 || status == 405 || status == 501) {
    answer.kind = LoadAnswer::Kind::absent;
    return answer;
  }
  if (status < 200 || status >= 300) return answer;
  switch (source) {
    case LoadSource::loads:
    case LoadSource::v1_loads:
      return from_json(protocol::parse_loads_json(body));
    case LoadSource::get_load:
      return from_json(protocol::parse_get_load_json(body));
    case LoadSource::metrics:
      break;
  }
  return from_metrics(body);
}

std::vector<LoadSource> LoadSources::begin_poll() {
  ++poll_;
  std::vector<LoadSource> order;
  for (std::size_t i = 0; i < kLoadSources; ++i) {
    if (next_try_[i] <= poll_) order.push_back(static_cast<LoadSource>(i));
  }
  return order;
}

void LoadSources::mark_absent(LoadSource source) {
  next_try_[static_cast<std::size_t>(source)] = poll_ + kAbsentPolls;
}

double TokenRate::update(double total, TimePoint now) {
  const double seconds = std::chrono::duration<double>(now - at_).count();
  const double before = std::exchange(last_, total);
  at_ = now;
  if (before < 0 || total < before || seconds <= 0) return 0;
  return (total - before) / seconds;
}

}  // namespace smg::control
