#include "smg/control/load_monitor.hpp"

#include <algorithm>
#include <utility>

#include "smg/base/clock.hpp"
#include "smg/base/log.hpp"

namespace smg::control {

using worker::WorkerStatus;

bool overloaded(const protocol::LoadReport& report, const OverloadOptions& limits) {
  if (report.rows.empty()) return false;
  double waiting = 0;
  double usage = 0;
  for (const protocol::LoadRow& row : report.rows) {
    waiting += static_cast<double>(row.num_waiting_reqs);
    usage += row.token_usage;
  }
  usage /= static_cast<double>(report.rows.size());
  return (limits.waiting_requests && waiting >= static_cast<double>(*limits.waiting_requests)) ||
         (limits.token_usage && usage >= *limits.token_usage);
}

LoadMonitor::LoadMonitor(Deps& deps)
    : deps_(deps),
      enabled_(deps.options.load_monitoring || deps.options.policy_wants_loads ||
               deps.options.overload.waiting_requests.has_value() ||
               deps.options.overload.token_usage.has_value()) {}

std::chrono::milliseconds LoadMonitor::interval_of(const worker::Worker& worker) const {
  return worker.spec.load_monitor_interval ? *worker.spec.load_monitor_interval
                                           : deps_.options.load_interval;
}

awaitable<void> LoadMonitor::run(TenurePtr tenure) {
  Poller poller;
  while (!tenure->life.ended()) {
    if (tenure->worker(deps_)->status() != WorkerStatus::ready) {
      // What such a worker had may be gone when it is back.
      poller = {};
      co_await tenure->poll_now.wait(tenure->life, kForever);
      continue;
    }
    const std::uint64_t generation = tenure->generation;
    protocol::LoadReport report = co_await poll(tenure, &poller);
    if (tenure->life.ended()) co_return;
    if (generation != tenure->generation) {
      poller = {};
      continue;
    }
    take(*tenure, std::move(report));
    co_await tenure->poll_now.wait(tenure->life, interval_of(*tenure->worker(deps_)));
  }
}

awaitable<protocol::LoadReport> LoadMonitor::poll(TenurePtr tenure, Poller* poller) {
  const TimePoint limit = Clock::now() + kPollTimeout;
  const auto worker = tenure->worker(deps_);
  for (const LoadSource source : poller->sources.begin_poll()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - Clock::now());
    if (left.count() <= 0) break;
    upstream::FetchRequest request = request_to(*worker, load_target(source, worker->model_id()));
    request.timeout = left;
    request.max_body = std::size_t{8} << 20;
    FetchResult result = co_await deps_.fetch(tenure->life, std::move(request));
    if (!result) {
      const Errc code = result.error().code;
      // Nobody there, or the time is over: the other endpoints would fare no better.
      if (code == Errc::connect_failed || code == Errc::timeout || code == Errc::canceled) break;
      continue;
    }
    LoadAnswer answer = read_load_answer(source, result->status, result->body);
    if (answer.kind == LoadAnswer::Kind::absent) poller->sources.mark_absent(source);
    if (answer.kind != LoadAnswer::Kind::report) continue;
    if (answer.prompt_tokens_total >= 0) {
      const double rate = poller->prompt_rate.update(answer.prompt_tokens_total, Clock::now());
      auto& row = answer.report.rows.front();
      row.gen_throughput = std::max(row.gen_throughput, rate);
    }
    co_return std::move(answer.report);
  }
  co_return protocol::LoadReport{};
}

void LoadMonitor::take(Tenure& tenure, protocol::LoadReport report) {
  const auto worker = tenure.worker(deps_);
  if (report.rows.empty() || worker->status() != WorkerStatus::ready) {
    deps_.loads.forget(tenure.id);
    deps_.fleet.unblock(tenure.id, worker::kOverloaded);
    static log::Target& target = log::target("smg::workers");
    log::write(target, log::Level::debug, "Worker gave no load report", {{"url", worker->url()}});
    return;
  }
  OverloadOptions limits = tenure.overload;
  if (!limits.waiting_requests) limits.waiting_requests = deps_.options.overload.waiting_requests;
  if (!limits.token_usage) limits.token_usage = deps_.options.overload.token_usage;
  if (overloaded(report, limits)) {
    deps_.fleet.block(tenure.id, worker::kOverloaded);
  } else {
    deps_.fleet.unblock(tenure.id, worker::kOverloaded);
  }
  deps_.loads.record(tenure.id, std::move(report), deps_.fleet, Clock::now());
}

std::chrono::milliseconds LoadMonitor::longest_interval() const {
  std::chrono::milliseconds longest = deps_.options.load_interval;
  const auto set = deps_.registry.workers().load();
  for (const worker::WorkerId id : set->any().workers) {
    longest = std::max(longest, interval_of(*set->at(id)));
  }
  return longest;
}

awaitable<void> LoadMonitor::run_expiry(Lifetime& life) {
  Pulse pulse(deps_.context);
  while (co_await pulse.wait(life, kExpiryPeriod) != Woken::ended) {
    deps_.loads.expire(3 * longest_interval(), Clock::now());
  }
}

}  // namespace smg::control
