// What `smg mock-worker` can be told. Flags and ranges: docs/flags.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "smg/app/command_line.hpp"

namespace smg::app {

struct MockOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8000;
  std::string model = "mock-model";
  std::string runtime = "vllm";  // or "sglang": what it says it is
  std::string api_key;           // empty: open

  double ttft_ms = 20;                   // of every request, besides its prefill
  double tokens_per_s = 200;             // of one running request
  double prefill_tokens_per_s = 20'000;  // of the engine; uncached tokens only
  std::uint32_t kv_blocks = 8192;        // of the prefix cache
  std::uint32_t block_size = 16;         // tokens
  std::uint32_t max_running = 64;        // requests that prefill or decode; others wait
  std::uint32_t output_tokens = 32;      // of an answer, unless the request asks for fewer
  double fail_rate = 0;                  // share of requests answered with fail_status
  std::uint32_t fail_status = 500;
  std::uint64_t seed = 1;  // of answers and failures
};

// Every flag of `smg mock-worker`, writing to `out`, which must outlive the table.
FlagTable mock_worker_flags(MockOptions& out);

struct MockSettings {
  MockOptions options;
  CommandLineResult result;
};
MockSettings read_mock_worker(std::span<const std::string> args);

std::string mock_worker_help();

}  // namespace smg::app
