#include "smg/control/fleet_metrics.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "smg/metrics/family.hpp"
#include "smg/metrics/sample_family.hpp"

namespace smg::control {

namespace {

using metrics::add_sample;
using metrics::counter_family;
using metrics::gauge_family;
using prometheus::MetricFamily;
using Workers = std::vector<std::shared_ptr<const worker::Worker>>;

constexpr std::array<std::string_view, 3> kStates = {"closed", "open", "half_open"};
constexpr std::array<std::string_view, 3> kOutcomes = {"success", "failure", "neutral"};

// A worker names its models: no more than this many values of the label.
constexpr std::size_t kMaxModelValues = metrics::CounterVec::kMaxValues;

class ModelNames {
 public:
  std::string_view bounded(const std::string& model) {
    if (names_.size() >= kMaxModelValues && !names_.contains(model)) return metrics::kOther;
    return names_.emplace(model, metrics::label_value(model)).first->second;
  }

 private:
  std::map<std::string, std::string> names_;
};

void add_states(std::vector<MetricFamily>& out, const Deps& deps, const Workers& workers) {
  auto active =
      gauge_family("smg_worker_requests_active", "Requests of this gateway in flight on a worker.");
  auto health = gauge_family("smg_worker_health", "Whether a worker is ready: 1, else 0.");
  for (const auto& worker : workers) {
    add_sample(active, {{"worker", worker->url()}}, deps.fleet.in_flight(worker->id));
    add_sample(health, {{"worker", worker->url()}},
               worker->status() == worker::WorkerStatus::ready ? 1 : 0);
  }
  out.push_back(std::move(active));
  out.push_back(std::move(health));
}

void add_breakers(std::vector<MetricFamily>& out, const Workers& workers) {
  auto state =
      gauge_family("smg_worker_cb_state", "Circuit breaker: 0 closed, 1 open, 2 half-open.");
  auto transitions =
      counter_family("smg_worker_cb_transitions_total", "Circuit breaker transitions.");
  auto outcomes =
      counter_family("smg_worker_cb_outcomes_total", "Outcomes that the circuit breaker heard of.");
  auto failures = gauge_family("smg_worker_cb_consecutive_failures",
                               "Failures in a row, as the circuit breaker counts them.");
  auto successes = gauge_family("smg_worker_cb_consecutive_successes",
                                "Successes in a row, as the circuit breaker counts them.");
  for (const auto& worker : workers) {
    const std::string& url = worker->url();
    const worker::CircuitBreaker& breaker = worker->shared->breaker;
    add_sample(state, {{"worker", url}}, static_cast<double>(breaker.state()));
    add_sample(failures, {{"worker", url}}, breaker.consecutive_failures());
    add_sample(successes, {{"worker", url}}, breaker.consecutive_successes());
    const auto counts = breaker.outcomes();
    for (std::size_t i = 0; i < counts.size(); ++i) {
      add_sample(outcomes, {{"worker", url}, {"outcome", kOutcomes[i]}},
                 static_cast<double>(counts[i]));
    }
    const auto moves = breaker.transitions();
    for (std::size_t from = 0; from < moves.size(); ++from) {
      for (std::size_t to = 0; to < moves[from].size(); ++to) {
        if (moves[from][to] == 0) continue;
        add_sample(transitions, {{"worker", url}, {"from", kStates[from]}, {"to", kStates[to]}},
                   static_cast<double>(moves[from][to]));
      }
    }
  }
  for (MetricFamily* family : {&state, &transitions, &outcomes, &failures, &successes}) {
    out.push_back(std::move(*family));
  }
}

void add_pools(std::vector<MetricFamily>& out, const Deps& deps, const Workers& workers,
               ModelNames& names) {
  std::map<std::string_view, double> sizes;
  std::map<std::string_view, double> overloaded;
  for (const auto& worker : workers) {
    const std::string_view model = names.bounded(worker->model_id());
    sizes[model] += 1;
    overloaded[model] += (deps.fleet.blocked(worker->id) & worker::kOverloaded) != 0 ? 1 : 0;
  }
  auto pool = gauge_family("smg_worker_pool_size", "Registered workers by their primary model.");
  auto shed = gauge_family("smg_workers_overloaded",
                           "Workers that overload protection keeps requests from.");
  for (const auto& [model, count] : sizes) {
    add_sample(pool, {{"worker_type", "regular"}, {"connection_mode", "http"}, {"model", model}},
               count);
    add_sample(shed, {{"model", model}}, overloaded[model]);
  }
  out.push_back(std::move(pool));
  out.push_back(std::move(shed));
}

void add_engines(std::vector<MetricFamily>& out, const Deps& deps, const Workers& workers,
                 ModelNames& names) {
  auto running = gauge_family("smg_engine_running_requests", "Requests that the engine runs.");
  auto waiting = gauge_family("smg_engine_waiting_requests", "Requests that wait in the engine.");
  auto usage = gauge_family("smg_engine_token_usage", "Share of the engine's KV cache in use.");
  auto throughput =
      gauge_family("smg_engine_gen_throughput", "Tokens per second, as the engine reports them.");
  auto hits = gauge_family("smg_engine_cache_hit_rate", "The engine's prefix cache hit rate.");
  const auto loads = deps.load_table.load();
  for (const auto& worker : workers) {
    const worker::WorkerLoad* load = loads->find(worker->id);
    if (!load) continue;
    const std::string_view model = names.bounded(worker->model_id());
    // By position: an engine could give the same rank twice.
    for (std::size_t rank = 0; rank < load->report.rows.size(); ++rank) {
      const protocol::LoadRow& row = load->report.rows[rank];
      const std::string rank_text = std::to_string(rank);
      const auto add = [&](MetricFamily& family, double value) {
        add_sample(family, {{"worker", worker->url()}, {"model", model}, {"dp_rank", rank_text}},
                   value);
      };
      add(running, static_cast<double>(row.num_running_reqs));
      add(waiting, static_cast<double>(row.num_waiting_reqs));
      add(usage, row.token_usage);
      add(throughput, row.gen_throughput);
      add(hits, row.cache_hit_rate);
    }
  }
  for (MetricFamily* family : {&running, &waiting, &usage, &throughput, &hits}) {
    out.push_back(std::move(*family));
  }
}

void add_indexes(std::vector<MetricFamily>& out, const Deps& deps) {
  auto chars =
      gauge_family("smg_cache_tree_chars", "Characters in a model's string tree, all workers.");
  auto tokens =
      gauge_family("smg_cache_tree_tokens", "Tokens in a model's token tree, all workers.");
  auto tenants = gauge_family("smg_cache_tree_tenants", "Workers that a model's tree knows.");
  const auto sizes = deps.index_sizes.load();
  ModelNames names;
  for (const policy::IndexSize& size : *sizes) {
    const std::string_view model = names.bounded(size.model);
    if (model == metrics::kOther) continue;
    add_sample(chars, {{"model", model}}, static_cast<double>(size.chars));
    add_sample(tokens, {{"model", model}}, static_cast<double>(size.tokens));
    add_sample(tenants, {{"model", model}, {"tree", "string"}},
               static_cast<double>(size.string_tenants));
    add_sample(tenants, {{"model", model}, {"tree", "token"}},
               static_cast<double>(size.token_tenants));
  }
  out.push_back(std::move(chars));
  out.push_back(std::move(tokens));
  out.push_back(std::move(tenants));
}

}  // namespace

std::vector<MetricFamily> fleet_families(const Deps& deps) {
  const auto set = deps.registry.workers().load();
  Workers workers;
  workers.reserve(set->size());
  for (const worker::WorkerId id : set->any().workers) workers.push_back(set->at(id));
  std::vector<MetricFamily> out;
  ModelNames names;
  add_states(out, deps, workers);
  add_breakers(out, workers);
  add_pools(out, deps, workers, names);
  add_engines(out, deps, workers, names);
  add_indexes(out, deps);
  return out;
}

}  // namespace smg::control
