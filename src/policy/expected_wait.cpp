#include "smg/policy/expected_wait.hpp"

#include <algorithm>
#include <limits>

#include "smg/policy/random_engine.hpp"

namespace smg::policy {
namespace {

using worker::LoadSignal;

constexpr double kMaxKvUsage = 0.999;
// Keeps a score finite whatever an engine reports.
constexpr double kMinThroughput = 1;  // tokens/s

// The lowest score so far and, of the workers that share it, one whose turn it is.
class Best {
 public:
  Best() = default;

  void offer(WorkerId id, double score, std::uint64_t turn) noexcept {
    if (workers_ != 0 && score > score_) return;
    if (workers_ == 0 || score < score_) *this = Best(score);
    ++workers_;
    highest_turn_ = std::max(highest_turn_, turn);
    if (turn > lowest_turn_) return;
    if (turn < lowest_turn_) ties_ = 0;
    lowest_turn_ = turn;
    // Every tied worker ends up chosen with the same probability.
    ++ties_;
    if (ties_ == 1 || thread_random().below(ties_) == 0) worker_ = id;
  }

  bool empty() const { return workers_ == 0; }
  double score() const { return score_; }

  ExpectedWaitChoice choice() const noexcept {
    // A sole winner uses up no turn. One that lags behind catches up at once.
    const std::uint64_t turn =
        workers_ == 1 ? lowest_turn_ : std::max(lowest_turn_ + 1, highest_turn_);
    return {worker_, score_, turn};
  }

  // The union of two groups with the same score.
  void merge(const Best& other) noexcept {
    workers_ += other.workers_;
    highest_turn_ = std::max(highest_turn_, other.highest_turn_);
    if (other.lowest_turn_ > lowest_turn_) return;
    if (other.lowest_turn_ < lowest_turn_) ties_ = 0;
    lowest_turn_ = other.lowest_turn_;
    ties_ += other.ties_;
    if (thread_random().below(ties_) < other.ties_) worker_ = other.worker_;
  }

 private:
  explicit Best(double score) : score_(score) {}

  double score_ = 0;
  std::uint64_t lowest_turn_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t highest_turn_ = 0;
  std::uint32_t workers_ = 0;  // that share the score
  std::uint32_t ties_ = 0;     // of them, that share the lowest turn
  WorkerId worker_ = worker::kNoWorker;
};

struct Rates {
  double highest = 0;  // of the candidates; 0: none is known
  double mean = 0;
};

Rates rates_of(std::span<const WorkerId> among, const Candidates& candidates) noexcept {
  Rates rates;
  double sum = 0;
  std::size_t known = 0;
  for (const WorkerId id : among) {
    const LoadSignal signal = candidates.loads.signal(id);
    if (!signal.reported || !(signal.throughput > 0)) continue;
    rates.highest = std::max(rates.highest, signal.throughput);
    sum += signal.throughput;
    ++known;
  }
  if (known != 0) rates.mean = sum / static_cast<double>(known);
  return rates;
}

double positive_or(double rate, double fallback) {
  return std::max(rate > 0 ? rate : fallback, kMinThroughput);
}

double reported_wait_s(const LoadSignal& signal, double credit, double highest_rate,
                       const ExpectedWaitOptions& options) noexcept {
  const double queued = signal.queued_tokens > 0
                            ? signal.queued_tokens
                            : signal.waiting_requests * options.mean_prefill_tokens;
  const double rate = queued > 0 ? positive_or(signal.throughput, highest_rate) : highest_rate;
  const double usage = std::clamp(static_cast<double>(signal.kv_usage), 0.0, kMaxKvUsage);
  return (queued + credit) / rate + options.kv_pressure_weight_s * usage / (1 - usage);
}

bool at_cap(const LoadSignal& signal, std::uint32_t credited, std::uint32_t cap) {
  return cap != 0 && signal.waiting_requests + credited >= cap;
}

ExpectedWaitChoice shortest_queue(std::span<const WorkerId> among,
                                  const worker::Fleet& fleet) noexcept {
  Best best;
  for (const WorkerId id : among) best.offer(id, fleet.in_flight(id), fleet.turn(id));
  return best.choice();
}

}  // namespace

std::optional<ExpectedWaitChoice> choose_expected_wait(
    std::span<const WorkerId> among, const Candidates& candidates,
    const ExpectedWaitOptions& options) noexcept {
  if (among.empty()) return std::nullopt;
  const worker::Fleet& fleet = candidates.fleet;
  if (candidates.loads.empty()) return shortest_queue(among, fleet);

  const Rates rates = rates_of(among, candidates);
  const double highest = positive_or(rates.highest, options.default_throughput);
  Best reporting;
  Best silent;  // scored by requests in flight
  for (const WorkerId id : among) {
    const LoadSignal signal = candidates.loads.signal(id);
    if (!signal.reported) {
      silent.offer(id, fleet.in_flight(id), fleet.turn(id));
    } else if (!at_cap(signal, fleet.credit_requests(id), options.max_waiting_requests)) {
      const auto credit = static_cast<double>(fleet.credit_tokens(id));
      reporting.offer(id, reported_wait_s(signal, credit, highest, options), fleet.turn(id));
    }
  }
  if (silent.empty()) {
    return reporting.empty() ? std::nullopt : std::optional(reporting.choice());
  }
  if (reporting.empty()) return silent.choice();

  // A silent worker's score is never below the best reporting one's: it can only draw level.
  const double rate = positive_or(rates.mean, options.default_throughput);
  const double penalty = silent.score() * options.mean_prefill_tokens / rate;
  if (penalty > 0) return reporting.choice();
  reporting.merge(silent);
  return reporting.choice();
}

std::uint64_t prompt_tokens(const RoutingRequest& request,
                            const ExpectedWaitOptions& options) noexcept {
  return request.estimated_tokens != 0 ? request.estimated_tokens : options.mean_prefill_tokens;
}

void book(const Candidates& candidates, const ExpectedWaitChoice& choice,
          std::uint64_t uncached_tokens) noexcept {
  candidates.fleet.add_credit(choice.worker, std::max<std::uint64_t>(uncached_tokens, 1));
  candidates.fleet.set_turn(choice.worker, choice.turn);
}

}  // namespace smg::policy
