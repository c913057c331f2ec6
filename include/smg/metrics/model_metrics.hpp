// The router's counts for one model. Thread-safe and lock-free after a series' first use.
//
// Series: smg_router_requests_total, smg_router_request_duration_seconds,
// smg_router_request_errors_total and smg_worker_selection_total.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "smg/metrics/labels.hpp"
#include "smg/metrics/registry.hpp"
#include "smg/metrics/slots.hpp"

namespace smg::metrics {

using PolicyId = std::size_t;  // index into RequestMetricsOptions::policies

// The families that all models share.
struct ModelFamilies {
  ModelFamilies(Registry& registry, std::vector<std::string> policy_names);

  CounterVec& requests;
  HistogramVec& durations;
  CounterVec& errors;
  CounterVec& selections;
  std::vector<std::string> policies;
};

class ModelMetrics {
 public:
  ModelMetrics(ModelFamilies& families, std::string model);

  const std::string& model() const { return model_; }

  void count_request(Endpoint endpoint, bool streaming);
  // A 2xx answer: seconds to its head (streaming) or its end.
  void observe_duration(Endpoint endpoint, double seconds);
  // The final answer was not 2xx and could not be retried.
  void count_error(Endpoint endpoint, ErrorType type);
  // A worker was chosen for an attempt.
  void count_selection(PolicyId policy);

 private:
  ModelFamilies& families_;
  const std::string model_;
  Slots<Counter> requests_;
  Slots<Histogram> durations_;
  Slots<Counter> errors_;
  Slots<Counter> selections_;
};

}  // namespace smg::metrics
