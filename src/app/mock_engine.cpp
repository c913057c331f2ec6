#include "smg/app/mock_engine.hpp"

#include <algorithm>
#include <cmath>

namespace smg::app {
namespace {

// Rates may be tiny and prompts huge: never longer than a day.
Clock::duration seconds(double s) {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::min(s, 86'400.0)));
}

}  // namespace

double MockLoad::usage() const {
  if (capacity_tokens == 0) return 0;
  return static_cast<double>(used_tokens) / static_cast<double>(capacity_tokens);
}

double MockLoad::hit_rate() const {
  if (prompt_tokens_total == 0) return 0;
  return static_cast<double>(cached_tokens_total) / static_cast<double>(prompt_tokens_total);
}

MockEngine::MockEngine(const MockOptions& options)
    : block_size_(options.block_size),
      max_running_(options.max_running),
      prefill_rate_(options.prefill_tokens_per_s),
      ttft_s_(options.ttft_ms / 1000),
      cache_(options.kv_blocks) {
  totals_.capacity_tokens = std::uint64_t{options.kv_blocks} * options.block_size;
}

MockEngine::Id MockEngine::submit(MockPrompt prompt) {
  waiting_.push_back({next_id_, std::move(prompt)});
  return next_id_++;
}

std::uint64_t MockEngine::cached_tokens(const MockPrompt& prompt) const {
  std::size_t blocks = cache_.match(prompt);
  if (blocks > 0 && blocks * block_size_ >= prompt.tokens) --blocks;
  return blocks * block_size_;
}

std::vector<MockEngine::Start> MockEngine::advance(TimePoint now) {
  std::vector<Start> started;
  while (!waiting_.empty() && running_.size() < max_running_ && prefill_free_ <= now) {
    Waiting& next = waiting_.front();
    const std::uint64_t cached = cached_tokens(next.prompt);
    cache_.insert(next.prompt);
    const double uncached = static_cast<double>(next.prompt.tokens - cached);
    prefill_free_ = now + seconds(uncached / prefill_rate_);
    prefilling_ = next.id;
    started.push_back({next.id, cached, prefill_free_ + seconds(ttft_s_)});
    running_.emplace(next.id, next.prompt.tokens);
    totals_.prompt_tokens_total += next.prompt.tokens;
    totals_.cached_tokens_total += cached;
    waiting_.pop_front();
  }
  return started;
}

std::optional<TimePoint> MockEngine::next_event() const {
  if (waiting_.empty() || running_.size() >= max_running_) return std::nullopt;
  return prefill_free_;
}

void MockEngine::release(Id id, std::uint64_t generated_tokens, const MockPrompt* whole,
                         TimePoint now) {
  if (running_.erase(id) == 0) {
    std::erase_if(waiting_, [id](const Waiting& request) { return request.id == id; });
    return;
  }
  if (prefilling_ == id) prefill_free_ = std::min(prefill_free_, now);
  totals_.generated_tokens_total += generated_tokens;
  if (whole != nullptr) {
    cache_.insert(*whole);
    ++totals_.requests_total;
  }
}

MockLoad MockEngine::load() const {
  MockLoad load = totals_;
  load.running = running_.size();
  load.waiting = waiting_.size();
  for (const auto& request : waiting_) {
    load.waiting_uncached_tokens += request.prompt.tokens - cached_tokens(request.prompt);
  }
  for (const auto& [id, tokens] : running_) load.used_tokens += tokens;
  load.used_tokens = std::min(load.used_tokens, load.capacity_tokens);
  return load;
}

}  // namespace smg::app
