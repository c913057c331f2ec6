// What is counted for a request, from the edge to the attempt. Thread-safe; after a series' first
// use a count is a relaxed addition: no lock, no string, no lookup.
//
// Labels are small integers into the lists given at construction. An id out of range is a broken
// invariant. Every request that comes in and every answer that goes out passes through here, also
// those that end before a worker is chosen.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "smg/metrics/model_table.hpp"

namespace smg::metrics {

using PathId = std::size_t;   // index into paths; paths.size() is `other`
using ErrorId = std::size_t;  // index into errors

struct RequestMetricsOptions {
  struct GatewayError {
    std::string code;
    int status = 500;
  };
  std::vector<std::string> paths;     // route templates
  std::vector<GatewayError> errors;   // what the gateway answers by itself
  std::vector<std::string> policies;  // command-line names
};

class RequestMetrics {
 public:
  // Registers its families; at most one for a registry.
  RequestMetrics(Registry& registry, RequestMetricsOptions options);

  PathId other_path() const { return options_.paths.size(); }

  // Edge. Each request: one count_request, and one of the two responses when its head is ready.
  void count_request(PathId path, Method method);
  void count_response(PathId path, int status);
  void count_gateway_error(PathId path, ErrorId error);
  void observe_head_ready(PathId path, Method method, double seconds);
  // Requests being served, streaming bodies included.
  Gauge& active_requests() { return active_; }

  // Router. Once a request; give a name from the worker registry, not any name a client sent.
  ModelMetrics& model(std::string_view name) { return models_.at(name); }

  // Attempts: the worker's status, or the error that the gateway would answer for it. 500 and
  // above also count as worker errors.
  void count_attempt(int status);
  void count_failed_attempt(ErrorId error);
  // Sent again on a new connection because the pooled one was dead.
  void count_send_retry() { send_retries_.add(); }
  // Before the backoff that precedes attempt number `attempt` + 1, counted from 1.
  void count_retry(Endpoint endpoint, std::size_t attempt, double backoff_seconds);
  void count_retries_exhausted(Endpoint endpoint);

  void count_health_check(bool success) { health_checks_[success ? 0 : 1]->add(); }

  // `match_ratio`: matched length by input length, 0..1.
  void count_cache_aware(CacheAwareBranch branch, double match_ratio);

 private:
  void count_worker_error(int status);
  std::string_view path_text(PathId path) const;

  const RequestMetricsOptions options_;
  ModelFamilies model_families_;
  ModelTable models_;

  CounterVec& requests_;
  HistogramVec& durations_;
  CounterVec& responses_;
  CounterVec& upstream_responses_;
  CounterVec& worker_errors_;
  CounterVec& retries_;
  CounterVec& exhausted_;
  HistogramVec& backoffs_;
  CounterVec& branches_;

  Gauge& active_;
  Counter& send_retries_;
  Histogram& match_ratio_;
  Counter* health_checks_[2];  // success, failure

  Slots<Counter> request_slots_;       // [path][method]
  Slots<Histogram> duration_slots_;    // [path][method]
  Slots<Counter> status_slots_;        // [path][status]
  Slots<Counter> error_slots_;         // [path][error]
  Slots<Counter> attempt_slots_;       // [status]
  Slots<Counter> failed_slots_;        // [error]
  Slots<Counter> worker_error_slots_;  // [error type]
  Slots<Counter> retry_slots_;         // [endpoint]
  Slots<Counter> exhausted_slots_;     // [endpoint]
  Slots<Histogram> backoff_slots_;     // [attempt]
  Slots<Counter> branch_slots_;        // [branch]
};

}  // namespace smg::metrics
