// The expected-wait scorer: least_load's policy, and cache_aware's choice for misses, spills and
// ties.
//
//   score(w) = (Q + c) / R + lambda * k / (1 - k)          w has a report
//   score(w) = min score over reporting + load(w) * p / Rnom   w has none, some candidate has one
//   score(w) = load(w)                                      no candidate has one
//
// in seconds (last line: requests). Q = queued tokens (waiting uncached tokens, else waiting
// requests * p), c = tokens credited since the report, R = throughput (default_throughput when
// unknown), k = KV usage clamped to [0, 0.999], load = requests in flight here, Rnom = mean of the
// positive throughputs, else default_throughput. Lowest wins, exact ties uniformly at random.
// Total, finite, >= 0. The winner is credited the request's uncached tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "smg/policy/policy.hpp"

namespace smg::policy {

struct ExpectedWaitOptions {
  double kv_pressure_weight_s = 0.15;         // lambda, >= 0
  double default_throughput = 2000;           // tokens/s, > 0
  std::uint32_t mean_prefill_tokens = 1024;   // p, >= 1
  std::uint32_t max_waiting_requests = 0;     // 0: no cap
};

struct ExpectedWaitChoice {
  WorkerId worker = worker::kNoWorker;
  double score = 0;
};

// The best of `among` (a subset of the candidates). None when the waiting cap skips all of them or
// `among` is empty. Takes no credit: see book().
std::optional<ExpectedWaitChoice> choose_expected_wait(std::span<const WorkerId> among,
                                                       const Candidates& candidates,
                                                       const ExpectedWaitOptions& options) noexcept;

// Credits `uncached_tokens` and one request to the chosen worker until its next report.
void book(const Candidates& candidates, WorkerId worker, std::uint64_t uncached_tokens) noexcept;

}  // namespace smg::policy
