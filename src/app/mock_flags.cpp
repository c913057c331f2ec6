#include "smg/app/flag_text.hpp"
#include "smg/app/mock_options.hpp"

namespace smg::app {
namespace {

std::string check_model(std::string_view value) {
  return value.empty() || value.size() > 256 ? "is not a model name" : "";
}

const TextRule kModel{"MODEL", "up to 256 characters", check_model};
constexpr RealRange kRate{.min = 0, .above_min = true};

}  // namespace

FlagTable mock_worker_flags(MockOptions& out) {
  return {
      {"Listening",
       {text({{"--host"}, "Address to listen on"}, kHost, out.host),
        integer({{"--port"}, "Port to listen on"}, kPorts, out.port),
        text({{"--model"}, "The model that it says it serves"}, kModel, out.model),
        choice({{"--runtime"}, "The engine that it says it is"}, {"vllm", "sglang"}, out.runtime),
        text({{"--api-key"}, "Key that callers must send as Bearer token; none: open to all"},
             kSecret, out.api_key)}},
      {"Simulated engine",
       {real({{"--ttft-ms"}, "Time to first token besides waiting and prefill"}, {}, out.ttft_ms),
        real({{"--tokens-per-s"}, "Output tokens/s of each request"}, kRate, out.tokens_per_s),
        real({{"--prefill-tokens-per-s"}, "Prompt tokens/s, one request after the other"}, kRate,
             out.prefill_tokens_per_s),
        integer({{"--kv-blocks"}, "Blocks of the prefix cache; 0: none"}, {0, 10'000'000},
                out.kv_blocks),
        integer({{"--block-size"}, "Tokens of a block; 4 bytes of text count as 1 token"},
                {1, 65536}, out.block_size),
        integer({{"--max-running"}, "Requests served at a time; others wait"}, {1, 1'000'000},
                out.max_running),
        integer({{"--output-tokens"}, "Length of an answer unless the request asks for less"},
                {1, 1'000'000}, out.output_tokens),
        real({{"--fail-rate"}, "Share of requests that fail"}, {0, 1}, out.fail_rate),
        integer({{"--fail-status"}, "Status of those"}, {400, 599}, out.fail_status),
        integer({{"--seed"}, "Of answers and failures"}, {}, out.seed)}}};
}

MockSettings read_mock_worker(std::span<const std::string> args) {
  MockSettings settings;
  settings.result = read_command_line(mock_worker_flags(settings.options), {args, {}, {}});
  return settings;
}

std::string mock_worker_help() {
  MockOptions defaults;
  return "smg mock-worker: a simulated engine with a prefix cache, a queue and a token clock. It\n"
         "speaks the API of an engine and makes its answers up: for trying out, tests and\n"
         "benchmarks.\n\nUsage: smg mock-worker [--port N] [flags]\n" +
         render_flags(mock_worker_flags(defaults));
}

}  // namespace smg::app
