#include "smg/worker/load_table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace smg::worker {
namespace {

double at_least_zero(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

double at_least_zero(std::int64_t value) { return value > 0 ? static_cast<double>(value) : 0; }

// Sums over the DP ranks, and the mean of their KV usage. Throughput is the report's own.
WorkerLoad condense(protocol::LoadReport report, TimePoint now) {
  WorkerLoad load;
  load.reported = true;
  load.at = now;
  for (const protocol::LoadRow& row : report.rows) {
    load.queued_tokens += at_least_zero(row.num_waiting_uncached_tokens);
    load.waiting_requests += at_least_zero(row.num_waiting_reqs);
    load.running_requests += at_least_zero(row.num_running_reqs);
    load.throughput += at_least_zero(row.gen_throughput);
    load.kv_usage += std::min(at_least_zero(row.token_usage), 1.0);
  }
  if (!std::isfinite(load.throughput)) load.throughput = 0;
  if (!report.rows.empty()) load.kv_usage /= static_cast<double>(report.rows.size());
  load.report = std::move(report);
  return load;
}

}  // namespace

void LoadHistory::record(WorkerId id, protocol::LoadReport report, Fleet& fleet, TimePoint now) {
  if (loads_.size() <= id) {
    loads_.resize(id + std::size_t{1});
    peaks_.resize(id + std::size_t{1});
  }
  WorkerLoad load = condense(std::move(report), now);
  load.throughput = highest_throughput(id, load.throughput, now);
  loads_[id] = std::make_shared<const WorkerLoad>(std::move(load));
  publish();
  fleet.clear_credit(id);
}

double LoadHistory::highest_throughput(WorkerId id, double reported, TimePoint now) {
  std::vector<Peak>& peaks = peaks_[id];
  // A higher rate that is also newer hides the older ones for good.
  while (!peaks.empty() && peaks.back().throughput <= reported) peaks.pop_back();
  if (reported > 0) peaks.push_back({now, reported});
  std::erase_if(peaks, [&](const Peak& peak) { return now - peak.at > kThroughputMemory; });
  return peaks.empty() ? 0 : peaks.front().throughput;
}

void LoadHistory::forget(WorkerId id) {
  if (id >= loads_.size() || !loads_[id]) return;
  loads_[id].reset();
  publish();
}

void LoadHistory::remove(WorkerId id) {
  if (id < peaks_.size()) peaks_[id].clear();
  forget(id);
}

void LoadHistory::expire(std::chrono::milliseconds max_age, TimePoint now) {
  bool dropped = false;
  for (auto& load : loads_) {
    if (load && now - load->at > max_age) {
      load.reset();
      dropped = true;
    }
  }
  if (dropped) publish();
}

void LoadHistory::publish() {
  auto table = std::make_shared<LoadTable>();
  table->loads_ = loads_;
  const bool any =
      std::any_of(loads_.begin(), loads_.end(), [](const auto& load) { return !!load; });
  if (any) {
    table->signals_.resize(loads_.size());
    for (std::size_t id = 0; id < loads_.size(); ++id) {
      if (!loads_[id]) continue;
      const WorkerLoad& load = *loads_[id];
      table->signals_[id] = {true, static_cast<float>(load.kv_usage), load.queued_tokens,
                             load.waiting_requests, load.throughput};
    }
  }
  target_->publish(std::move(table));
}

}  // namespace smg::worker
