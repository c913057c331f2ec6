// The simulated engine: a FIFO queue, a prefill that serves one request at a time at a token rate,
// a cap on requests that prefill or decode, a prefix cache. Time is a parameter. Not thread-safe.
//
// A request waits until a place and the prefill are free. Its prefill takes (prompt - cached
// tokens) / prefill_tokens_per_s; its first token comes ttft_ms after that. Decoding is the
// caller's business: it paces tokens at tokens_per_s and calls release() at the end.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "smg/app/mock_cache.hpp"
#include "smg/app/mock_options.hpp"
#include "smg/base/clock.hpp"

namespace smg::app {

struct MockLoad {
  std::uint64_t running = 0;  // prefilling or decoding
  std::uint64_t waiting = 0;
  std::uint64_t waiting_uncached_tokens = 0;
  std::uint64_t used_tokens = 0;  // of running requests' prompts, at most the cache's size
  std::uint64_t capacity_tokens = 0;
  std::uint64_t prompt_tokens_total = 0;  // of all requests that have started
  std::uint64_t cached_tokens_total = 0;
  std::uint64_t generated_tokens_total = 0;
  std::uint64_t requests_total = 0;

  double usage() const;
  double hit_rate() const;
};

class MockEngine {
 public:
  using Id = std::uint64_t;

  explicit MockEngine(const MockOptions& options);

  Id submit(MockPrompt prompt);

  // What the engine knows of a request once its prefill has begun.
  struct Start {
    Id id = 0;
    std::uint64_t cached_tokens = 0;  // whole blocks; the last token is always computed
    TimePoint first_token{};
  };
  // Begins what can begin at `now`.
  std::vector<Start> advance(TimePoint now);
  // When to call advance() again, if nothing is submitted or released before.
  std::optional<TimePoint> next_event() const;

  // Ends a request in any state. `whole` is what its cache holds then, prompt and answer.
  void release(Id id, std::uint64_t generated_tokens, const MockPrompt* whole, TimePoint now);

  void flush_cache() { cache_.clear(); }
  MockLoad load() const;

 private:
  std::uint64_t cached_tokens(const MockPrompt& prompt) const;

  struct Waiting {
    Id id;
    MockPrompt prompt;
  };

  const std::uint32_t block_size_;
  const std::uint32_t max_running_;
  const double prefill_rate_;
  const double ttft_s_;
  MockCache cache_;
  std::deque<Waiting> waiting_;
  std::unordered_map<Id, std::uint64_t> running_;  // and their prompt tokens
  Id next_id_ = 1;
  Id prefilling_ = 0;  // the last one that began
  TimePoint prefill_free_{};
  MockLoad totals_;
};

}  // namespace smg::app
