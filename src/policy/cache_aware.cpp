#include "smg/policy/cache_aware.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <charconv>
#include <mutex>

#include "smg/policy/expected_wait.hpp"

namespace smg::policy {
namespace {

using index::PrefixMatch;
using worker::kMaxWorkers;

constexpr ExpectedWaitOptions kScorer{};

// The shortest decimal that reads back as the same float: 0.3, not 0.30000001192092896.
double shown(float value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  double result = 0;
  std::from_chars(text.data(), end, result);
  return result;
}

double ratio_of(const PrefixMatch& match) {
  if (match.length == 0) return 0;
  return static_cast<double>(match.matched) / static_cast<double>(match.length);
}

// One selection: what is known before the tree is locked, and the choice made under its lock.
class Decision {
 public:
  Decision(const Candidates& candidates, const SpillGate& gate)
      : candidates_(candidates),
        gate_(gate),
        mean_(mean_load(candidates.eligible, candidates.fleet)),
        fallback_(*choose_expected_wait(candidates.eligible, candidates, kScorer)) {
    for (const WorkerId id : candidates.eligible) eligible_.set(id);
  }

  index::TenantId choose(const PrefixMatch& match, float threshold) noexcept {
    const float ratio = match.length == 0
                            ? 0.0F
                            : static_cast<float>(match.matched) / static_cast<float>(match.length);
    if (ratio > threshold) {
      resolve(match);
    } else {
      choice_ = fallback_;
      branch_ = Branch::expected_wait_fallback;
    }
    return choice_.worker;
  }

  const ExpectedWaitChoice& choice() const { return choice_; }
  Branch branch() const { return branch_; }

 private:
  bool hot(WorkerId id) const { return gate_.hot(candidates_.fleet.in_flight(id), mean_); }

  void resolve(const PrefixMatch& match) noexcept {
    std::array<WorkerId, index::kMaxReportedTenants> safe{};
    std::size_t safe_count = 0;
    bool any_eligible = false;
    for (const WorkerId holder : match.holders()) {
      if (!eligible_.test(holder)) continue;
      any_eligible = true;
      if (!hot(holder)) safe[safe_count++] = holder;
    }
    if (safe_count != 0) {
      choice_ = *choose_expected_wait({safe.data(), safe_count}, candidates_, kScorer);
    } else {
      choice_ = any_eligible && hot(fallback_.worker) ? best_cool() : fallback_;
    }
    // All holders may be hot and one of them the best worker still, when all workers are.
    const auto holders = match.holders();
    const bool held = std::find(holders.begin(), holders.end(), choice_.worker) != holders.end();
    branch_ = held ? Branch::tree_match : Branch::spill;
  }

  // The best worker that is not hot. By the definition of a mean there is one, unless the loads
  // have changed since.
  ExpectedWaitChoice best_cool() const noexcept {
    std::array<WorkerId, kMaxWorkers> cool;  // filled up to cool_count
    std::size_t cool_count = 0;
    for (const WorkerId id : candidates_.eligible) {
      if (!hot(id)) cool[cool_count++] = id;
    }
    return choose_expected_wait({cool.data(), cool_count}, candidates_, kScorer)
        .value_or(fallback_);
  }

  const Candidates& candidates_;
  const SpillGate& gate_;
  const double mean_;
  const ExpectedWaitChoice fallback_;  // the best of all eligible workers
  std::bitset<kMaxWorkers> eligible_;
  ExpectedWaitChoice choice_;
  Branch branch_ = Branch::expected_wait_fallback;
};

// Whose trees a request uses. A request for any model must find what requests that name the model
// have taught, so it uses the model's name too.
std::string_view index_key(const RoutingRequest& request, const Candidates& candidates) {
  if (!request.model.empty() && request.model != "unknown") return request.model;
  return candidates.workers.at(candidates.eligible.front())->model_id();
}

std::uint64_t uncached_tokens(const RoutingRequest& request, Branch branch, double ratio) {
  const std::uint64_t all = prompt_tokens(request, kScorer);
  if (branch != Branch::tree_match) return all;
  return static_cast<std::uint64_t>(static_cast<double>(all) * (1 - ratio));
}

}  // namespace

const char* to_string(Branch branch) {
  switch (branch) {
    case Branch::tree_match:
      return "tree_match";
    case Branch::spill:
      return "spill";
    case Branch::expected_wait_fallback:
      return "expected_wait_fallback";
    case Branch::first_healthy_fallback:
      return "first_healthy_fallback";
  }
  return "unknown";
}

CacheAwarePolicy::CacheAwarePolicy(const CacheAwareOptions& options, PrefixIndexes& indexes,
                                   CacheAwareObserver& observer)
    : threshold_(options.cache_threshold),
      threshold_shown_(shown(options.cache_threshold)),
      gate_{options.balance_abs_threshold, options.balance_rel_threshold},
      indexes_(indexes),
      observer_(observer),
      log_(log::target("smg::policies::cache_aware")) {}

std::optional<Selection> CacheAwarePolicy::select(const RoutingRequest& request,
                                                  const Candidates& candidates) noexcept {
  if (candidates.eligible.empty()) return std::nullopt;
  const std::string_view model = index_key(request, candidates);
  ModelIndex& trees = indexes_.of(model);
  Decision decision(candidates, gate_);
  const auto choose = [&](const PrefixMatch& match) { return decision.choose(match, threshold_); };

  PrefixMatch match;
  if (!request.tokens.empty()) {
    const std::lock_guard lock(trees.token_mutex);
    match = trees.tokens.match_and_insert(request.tokens, choose, request.partition);
  } else {
    const std::lock_guard lock(trees.string_mutex);
    match = trees.strings.match_and_insert(request.text, choose, request.partition);
  }

  const double ratio = ratio_of(match);
  const Branch branch = decision.branch();
  book(candidates, decision.choice(), uncached_tokens(request, branch, ratio));
  observer_.on_decision(branch, ratio);
  const WorkerId chosen = decision.choice().worker;
  if (log_.enabled(log::Level::debug)) {
    log::write(log_, log::Level::debug, "Cache-aware selection",
               {{"index", "tree"},
                {"branch", to_string(branch)},
                {"worker", candidates.workers.at(chosen)->url()},
                {"model_id", model},
                {"matched_ratio", ratio},
                {"threshold", threshold_shown_}});
  }
  return Selection{chosen};
}

void CacheAwarePolicy::on_worker_removed(WorkerId id) noexcept { indexes_.remove(id); }

}  // namespace smg::policy
