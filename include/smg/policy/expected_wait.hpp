// The expected-wait scorer: least_load's policy, and cache_aware's choice for misses, spills and
// ties.
//
//   score(w) = (Q + c) / R + lambda * k / (1 - k)          w has a report
//   score(w) = min score over reporting + load(w) * p / Rnom   w has none, some candidate has one
//   score(w) = load(w)                                      no candidate has one
//
// in seconds (last line: requests). Q = queued tokens (waiting uncached tokens, else waiting
// requests * p), c = tokens credited since the report, k = KV usage clamped to [0, 0.999], load =
// requests in flight here, Rnom = mean of the positive throughputs, else default_throughput. Lowest
// wins. Total, finite, >= 0. The winner is credited the request's uncached tokens.
//
// R is what the worker could do, not what it does. Engines report the tokens they generate, and one
// that has nothing to do generates few: dividing by that sends every request to the engine that is
// busiest already. So only a worker that has requests waiting is taken at its own highest
// throughput: what it does while others wait is what it can. Every other worker is credited with
// the highest throughput among the candidates (default_throughput when none is known); if it is a
// slower machine it will have a queue by its next report, and is then taken at its own rate.
//
// Exact ties go round: to a worker that has won the fewest ties, at random among those. So every
// worker of n equal ones wins exactly once in n ties, in an order that no client can fall in step
// with; memoryless draws would leave one of four without its share of 40 about once in sixteen
// times. A worker that joins, or comes back, starts level with the others after one win, however
// many it has missed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "smg/policy/policy.hpp"

namespace smg::policy {

struct ExpectedWaitOptions {
  double kv_pressure_weight_s = 0.15;        // lambda, >= 0
  double default_throughput = 2000;          // tokens/s, > 0
  std::uint32_t mean_prefill_tokens = 1024;  // p, >= 1
  std::uint32_t max_waiting_requests = 0;    // 0: no cap
};

struct ExpectedWaitChoice {
  WorkerId worker = worker::kNoWorker;
  double score = 0;
  std::uint64_t turn = 0;  // Fleet::turn of the worker once it has won
};

// The best of `among` (a subset of the candidates). None when the waiting cap skips all of them or
// `among` is empty: a worker is skipped when the requests it reported waiting plus those credited
// since are at the cap. Changes nothing: see book(). Takes no lock, allocates nothing.
std::optional<ExpectedWaitChoice> choose_expected_wait(std::span<const WorkerId> among,
                                                       const Candidates& candidates,
                                                       const ExpectedWaitOptions& options) noexcept;

// The tokens a request will be credited before its prefix is considered: its own estimate, or p
// when nothing is known of its size.
std::uint64_t prompt_tokens(const RoutingRequest& request,
                            const ExpectedWaitOptions& options) noexcept;

// Credits `uncached_tokens` (at least one, so that a burst of cached prompts spreads) and one
// request to the chosen worker until its next report, and ends its turn.
void book(const Candidates& candidates, const ExpectedWaitChoice& choice,
          std::uint64_t uncached_tokens) noexcept;

}  // namespace smg::policy
