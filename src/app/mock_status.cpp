#include "smg/app/mock_status.hpp"

#include <cmath>

#include "mock_shapes.hpp"

namespace smg::app {
namespace {

constexpr int kMaxModelLength = 131'072;

std::string label_value(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out.push_back('\\');
    if (c == '\n') {
      out.append("\\n");
    } else {
      out.push_back(c);
    }
  }
  return out;
}

struct Sample {
  std::string_view name;
  std::string_view type;
  double value;
};

std::string number(double value) {
  if (value == std::floor(value) && value < 1e15) {
    return std::to_string(static_cast<std::uint64_t>(value));
  }
  return std::to_string(value);
}

}  // namespace

std::string mock_models(const MockOptions& options, std::int64_t created) {
  Json model = {{"id", options.model},
                {"object", "model"},
                {"created", created},
                {"owned_by", options.runtime},
                {"root", options.model},
                {"parent", nullptr},
                {"max_model_len", kMaxModelLength}};
  return dump({{"object", "list"}, {"data", Json::array({std::move(model)})}});
}

std::string mock_version() { return dump({{"version", "smg-mock-" SMG_VERSION}}); }

std::string mock_loads(const MockOptions& options, const MockLoad& load) {
  const double running = static_cast<double>(load.running);
  Json row = {{"dp_rank", 0},
              {"num_running_reqs", load.running},
              {"num_waiting_reqs", load.waiting},
              {"num_waiting_uncached_tokens", load.waiting_uncached_tokens},
              {"num_total_reqs", load.running + load.waiting},
              {"num_used_tokens", load.used_tokens},
              {"max_total_num_tokens", load.capacity_tokens},
              {"token_usage", load.usage()},
              {"gen_throughput", running * options.tokens_per_s},
              {"cache_hit_rate", load.hit_rate()},
              {"utilization", running / options.max_running},
              {"max_running_requests", options.max_running}};
  return dump({{"timestamp", ""},
               {"version", "smg-mock-" SMG_VERSION},
               {"dp_rank_count", 1},
               {"loads", Json::array({std::move(row)})}});
}

std::string mock_metrics(const MockOptions& options, const MockLoad& load) {
  const auto real = [](std::uint64_t value) { return static_cast<double>(value); };
  const Sample samples[] = {
      {"vllm:num_requests_running", "gauge", real(load.running)},
      {"vllm:num_requests_waiting", "gauge", real(load.waiting)},
      {"vllm:kv_cache_usage_perc", "gauge", load.usage()},
      {"vllm:prompt_tokens_total", "counter", real(load.prompt_tokens_total)},
      {"vllm:generation_tokens_total", "counter", real(load.generated_tokens_total)},
      {"vllm:prefix_cache_queries_total", "counter", real(load.prompt_tokens_total)},
      {"vllm:prefix_cache_hits_total", "counter", real(load.cached_tokens_total)},
      {"vllm:request_success_total", "counter", real(load.requests_total)},
  };
  std::string out;
  for (const auto& [name, type, value] : samples) {
    out.append("# TYPE ").append(name).append(" ").append(type).append("\n").append(name);
    out.append("{model_name=\"").append(label_value(options.model)).append("\"} ");
    out.append(number(value)).append("\n");
  }
  return out;
}

std::string mock_server_info(const MockOptions& options) {
  return dump({{"model_path", options.model},
               {"served_model_name", options.model},
               {"version", "smg-mock-" SMG_VERSION},
               {"tp_size", 1},
               {"dp_size", 1},
               {"page_size", options.block_size},
               {"max_running_requests", options.max_running},
               {"max_total_num_tokens", std::uint64_t{options.kv_blocks} * options.block_size}});
}

std::string mock_model_info(const MockOptions& options) {
  return dump(
      {{"model_path", options.model}, {"tokenizer_path", options.model}, {"is_generation", true}});
}

}  // namespace smg::app
