// The Prometheus text part of load_report.hpp.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "load_number.hpp"
#include "smg/protocol/load_report.hpp"

namespace smg::protocol {
namespace {

struct Sample {
  std::string_view name;
  double value = 0;
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view skip_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

// Behind the label set that `text` starts with; nothing if it does not end. Quoted values may hold
// braces and, escaped, quotes.
std::optional<std::string_view> skip_labels(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[i] == '}') {
      return text.substr(i + 1);
    }
  }
  return std::nullopt;
}

// One line: name, label set if any, value, and more that does not matter. Nothing if it is not so.
std::optional<Sample> read_sample(std::string_view line) {
  line = skip_blanks(line);
  if (line.empty() || line.front() == '#') return std::nullopt;
  const std::size_t name_end = line.find_first_of("{ \t");
  if (name_end == std::string_view::npos) return std::nullopt;
  Sample sample{.name = line.substr(0, name_end)};
  line = skip_blanks(line.substr(name_end));
  if (line.starts_with('{')) {
    const auto rest = skip_labels(line);
    if (!rest) return std::nullopt;
    line = skip_blanks(*rest);
  }
  const auto value = read_double(line.substr(0, line.find_first_of(" \t\r")));
  if (!value) return std::nullopt;
  sample.value = *value;
  return sample;
}

enum class Engine : std::uint8_t { vllm, sglang, llamacpp };
constexpr std::size_t engine_count = 3;
constexpr std::string_view engine_names[engine_count] = {"vllm", "sglang", "llamacpp"};

enum class Series : std::uint8_t {
  running,
  waiting,
  usage,
  hit_rate,
  hits,
  queries,
  throughput,
  utilization,
  prompt_tokens,
};
constexpr std::size_t series_count = 9;

struct SeriesName {
  Engine engine;
  std::string_view name;  // behind the engine's name and a `:` or `_`
  Series series;
};
constexpr SeriesName series_names[] = {
    {Engine::vllm, "num_requests_running", Series::running},
    {Engine::vllm, "num_requests_waiting", Series::waiting},
    {Engine::vllm, "kv_cache_usage_perc", Series::usage},
    {Engine::vllm, "gpu_cache_usage_perc", Series::usage},
    {Engine::vllm, "gpu_prefix_cache_hit_rate", Series::hit_rate},
    {Engine::vllm, "prefix_cache_hits_total", Series::hits},
    {Engine::vllm, "gpu_prefix_cache_hits_total", Series::hits},
    {Engine::vllm, "prefix_cache_queries_total", Series::queries},
    {Engine::vllm, "gpu_prefix_cache_queries_total", Series::queries},
    {Engine::vllm, "prompt_tokens_total", Series::prompt_tokens},
    {Engine::sglang, "num_running_reqs", Series::running},
    {Engine::sglang, "num_queue_reqs", Series::waiting},
    {Engine::sglang, "token_usage", Series::usage},
    {Engine::sglang, "cache_hit_rate", Series::hit_rate},
    {Engine::sglang, "gen_throughput", Series::throughput},
    {Engine::sglang, "utilization", Series::utilization},
    {Engine::llamacpp, "requests_processing", Series::running},
    {Engine::llamacpp, "requests_deferred", Series::waiting},
    {Engine::llamacpp, "kv_cache_usage_ratio", Series::usage},
    {Engine::llamacpp, "predicted_tokens_seconds", Series::throughput},
};

const SeriesName* find_series(std::string_view name) {
  for (const SeriesName& entry : series_names) {
    const std::string_view engine = engine_names[static_cast<std::size_t>(entry.engine)];
    if (!name.starts_with(engine) || name.size() <= engine.size()) continue;
    const char separator = name[engine.size()];
    if ((separator == ':' || separator == '_') && name.substr(engine.size() + 1) == entry.name) {
      return &entry;
    }
  }
  return nullptr;
}

// A series summed over its label sets.
struct Total {
  double sum = 0;
  std::size_t samples = 0;

  bool present() const { return samples != 0; }
  double mean() const { return present() ? sum / static_cast<double>(samples) : 0; }
};

class Totals {
 public:
  // The kinds differ in what is absurd; one bad label set must not spoil the others.
  void add(const SeriesName& entry, double value) {
    Total& total = of(entry.engine, entry.series);
    ++total.samples;
    switch (entry.series) {
      case Series::usage:
      case Series::hit_rate:
      case Series::utilization:
        total.sum += sane_ratio(value);
        break;
      case Series::throughput:
        total.sum += sane_rate(value);
        break;
      default:
        total.sum += static_cast<double>(sane_count(value));
    }
  }

  Total& of(Engine engine, Series series) {
    return totals_[static_cast<std::size_t>(engine)][static_cast<std::size_t>(series)];
  }

  // The first engine whose required series is there.
  std::optional<Engine> engine() {
    if (of(Engine::vllm, Series::usage).present()) return Engine::vllm;
    if (of(Engine::sglang, Series::usage).present()) return Engine::sglang;
    if (of(Engine::llamacpp, Series::running).present()) return Engine::llamacpp;
    return std::nullopt;
  }

 private:
  std::array<std::array<Total, series_count>, engine_count> totals_;
};

MetricsLoad load_of(Totals& totals, Engine engine) {
  const auto of = [&](Series series) { return totals.of(engine, series); };
  LoadRow row;
  row.num_running_reqs = sane_count(of(Series::running).sum);
  row.num_waiting_reqs = sane_count(of(Series::waiting).sum);
  row.num_total_reqs = row.num_running_reqs + row.num_waiting_reqs;
  row.token_usage = of(Series::usage).mean();
  row.gen_throughput = of(Series::throughput).sum;
  row.utilization = of(Series::utilization).mean();
  row.cache_hit_rate = of(Series::hit_rate).mean();
  if (!of(Series::hit_rate).present() && of(Series::queries).sum > 0) {
    row.cache_hit_rate = sane_ratio(of(Series::hits).sum / of(Series::queries).sum);
  }
  MetricsLoad load;
  load.report.rows.push_back(row);
  if (of(Series::prompt_tokens).present()) load.prompt_tokens_total = of(Series::prompt_tokens).sum;
  return load;
}

}  // namespace

Result<MetricsLoad> parse_metrics_text(std::string_view text) {
  Totals totals;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (const auto sample = read_sample(text.substr(0, end))) {
      const SeriesName* const series = find_series(sample->name);
      if (series != nullptr) totals.add(*series, sample->value);
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  const auto engine = totals.engine();
  if (!engine) {
    return Error{Errc::unavailable, Side::upstream, Retry::never, "metrics of no known engine"};
  }
  return load_of(totals, *engine);
}

}  // namespace smg::protocol
