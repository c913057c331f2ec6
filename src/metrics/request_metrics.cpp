#include "smg/metrics/request_metrics.hpp"

#include <algorithm>
#include <utility>

namespace smg::metrics {
namespace {

constexpr std::string_view kRouter = "http";
constexpr std::string_view kWorker = "regular";
constexpr std::string_view kConnection = "http";

// Attempts from this one on share a series.
constexpr std::size_t kMaxAttempt = 16;

// Statuses 100..599, and one slot for what a worker made up.
constexpr int kFirstStatus = 100;
constexpr int kLastStatus = 599;
constexpr std::size_t kStatuses = kLastStatus - kFirstStatus + 2;

std::size_t status_slot(int status) {
  const bool known = status >= kFirstStatus && status <= kLastStatus;
  return known ? static_cast<std::size_t>(status - kFirstStatus) : kStatuses - 1;
}

std::string status_text(int status) {
  return status_slot(status) == kStatuses - 1 ? std::string(kOther) : std::to_string(status);
}

template <class Enum>
std::size_t index(Enum value) {
  return static_cast<std::size_t>(value);
}

// Without labels there is one series, and it is shown from the start.
template <class Vec>
auto& only(Vec& family) {
  return family.at({});
}

}  // namespace

RequestMetrics::RequestMetrics(Registry& registry, RequestMetricsOptions options)
    : options_(std::move(options)),
      model_families_(registry, options_.policies),
      models_(model_families_),
      requests_(registry.counter(
          {"smg_http_requests_total", "HTTP requests received.", {"method", "path"}})),
      durations_(registry.histogram({"smg_http_request_duration_seconds",
                                     "Time from a request's arrival to its answer's head.",
                                     {"method", "path"}},
                                    duration_bounds())),
      responses_(registry.counter({"smg_http_responses_total",
                                   "HTTP answers sent; error_code is set on the gateway's own.",
                                   {"path", "status_code", "error_code"}})),
      upstream_responses_(registry.counter({"smg_router_upstream_responses_total",
                                            "Outcomes of attempts to have a worker answer.",
                                            {"router_type", "status_code", "error_code"}})),
      worker_errors_(registry.counter({"smg_worker_errors_total",
                                       "Attempts that ended with status 500 or above.",
                                       {"worker_type", "connection_mode", "error_type"}})),
      retries_(registry.counter({"smg_worker_retries_total",
                                 "Attempts that are made again.",
                                 {"worker_type", "endpoint"}})),
      exhausted_(registry.counter({"smg_worker_retries_exhausted_total",
                                   "Requests that failed on their last attempt.",
                                   {"worker_type", "endpoint"}})),
      backoffs_(registry.histogram(
          {"smg_worker_retry_backoff_seconds", "Time waited before a retry.", {"attempt"}},
          duration_bounds())),
      branches_(registry.counter({"smg_cache_aware_policy_branch_total",
                                  "How the cache-aware policy came to its choice.",
                                  {"branch"}})),
      active_(only(registry.gauge(
          {"smg_http_connections_active", "Requests being served, streaming answers included."}))),
      send_retries_(registry
                        .counter({"smg_router_upstream_send_retries_total",
                                  "Requests sent again because a pooled connection was dead.",
                                  {"router_type"}})
                        .at({kRouter})),
      match_ratio_(only(registry.histogram(
          {"smg_cache_aware_match_ratio", "Share of a prompt that the prefix tree knew."},
          ratio_bounds()))),
      request_slots_((options_.paths.size() + 1) * kMethods),
      duration_slots_((options_.paths.size() + 1) * kMethods),
      status_slots_((options_.paths.size() + 1) * kStatuses),
      error_slots_((options_.paths.size() + 1) * options_.errors.size()),
      attempt_slots_(kStatuses),
      failed_slots_(options_.errors.size()),
      worker_error_slots_(kErrorTypes),
      retry_slots_(kEndpoints),
      exhausted_slots_(kEndpoints),
      backoff_slots_(kMaxAttempt),
      branch_slots_(kCacheAwareBranches) {
  CounterVec& checks = registry.counter({"smg_worker_health_checks_total",
                                         "Health probes of workers by result.",
                                         {"worker_type", "result"}});
  health_checks_[0] = &checks.at({kWorker, "success"});
  health_checks_[1] = &checks.at({kWorker, "failure"});
}

std::string_view RequestMetrics::path_text(PathId path) const {
  return path < options_.paths.size() ? std::string_view(options_.paths[path]) : kOther;
}

void RequestMetrics::count_request(PathId path, Method method) {
  request_slots_
      .get(path * kMethods + index(method),
           [&]() -> Counter& {
             return requests_.at({text_of(method), path_text(path)});
           })
      .add();
}

void RequestMetrics::count_response(PathId path, int status) {
  status_slots_
      .get(path * kStatuses + status_slot(status),
           [&]() -> Counter& {
             return responses_.at({path_text(path), status_text(status), ""});
           })
      .add();
}

void RequestMetrics::count_gateway_error(PathId path, ErrorId error) {
  error_slots_
      .get(path * options_.errors.size() + error,
           [&]() -> Counter& {
             const auto& [code, status] = options_.errors[error];
             return responses_.at({path_text(path), status_text(status), code});
           })
      .add();
}

void RequestMetrics::observe_head_ready(PathId path, Method method, double seconds) {
  duration_slots_
      .get(path * kMethods + index(method),
           [&]() -> Histogram& {
             return durations_.at({text_of(method), path_text(path)});
           })
      .observe(seconds);
}

void RequestMetrics::count_attempt(int status) {
  attempt_slots_
      .get(status_slot(status),
           [&]() -> Counter& {
             return upstream_responses_.at({kRouter, status_text(status), ""});
           })
      .add();
  count_worker_error(status);
}

void RequestMetrics::count_failed_attempt(ErrorId error) {
  const auto& [code, status] = options_.errors[error];
  failed_slots_
      .get(error,
           [&, &text = code, number = status]() -> Counter& {
             return upstream_responses_.at({kRouter, status_text(number), text});
           })
      .add();
  count_worker_error(status);
}

void RequestMetrics::count_worker_error(int status) {
  if (status < 500) return;
  const ErrorType type = error_type_of(status);
  worker_error_slots_
      .get(index(type),
           [&]() -> Counter& {
             return worker_errors_.at({kWorker, kConnection, text_of(type)});
           })
      .add();
}

void RequestMetrics::count_retry(Endpoint endpoint, std::size_t attempt, double backoff_seconds) {
  retry_slots_
      .get(index(endpoint),
           [&]() -> Counter& {
             return retries_.at({kWorker, text_of(endpoint)});
           })
      .add();
  const std::size_t shown = std::clamp<std::size_t>(attempt, 1, kMaxAttempt);
  backoff_slots_
      .get(shown - 1,
           [&]() -> Histogram& {
             return backoffs_.at(
                 {shown < kMaxAttempt ? std::to_string(shown) : std::string(kOther)});
           })
      .observe(backoff_seconds);
}

void RequestMetrics::count_retries_exhausted(Endpoint endpoint) {
  exhausted_slots_
      .get(index(endpoint),
           [&]() -> Counter& {
             return exhausted_.at({kWorker, text_of(endpoint)});
           })
      .add();
}

void RequestMetrics::count_cache_aware(CacheAwareBranch branch, double match_ratio) {
  branch_slots_.get(index(branch), [&]() -> Counter& { return branches_.at({text_of(branch)}); })
      .add();
  match_ratio_.observe(match_ratio);
}

}  // namespace smg::metrics
