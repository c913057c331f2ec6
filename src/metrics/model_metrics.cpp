#include "smg/metrics/model_metrics.hpp"

#include <utility>

namespace smg::metrics {
namespace {

// All that this gateway routes to today.
constexpr std::string_view kRouter = "http";
constexpr std::string_view kBackend = "regular";
constexpr std::string_view kConnection = "http";

}  // namespace

ModelFamilies::ModelFamilies(Registry& registry, std::vector<std::string> policy_names)
    : requests(registry.counter(
          {"smg_router_requests_total",
           "Inference requests that reached the router.",
           {"router_type", "backend_type", "connection_mode", "model", "endpoint", "streaming"}})),
      durations(registry.histogram(
          {"smg_router_request_duration_seconds",
           "Time to a successful answer: to its head when it streams, else to its end.",
           {"router_type", "backend_type", "connection_mode", "model", "endpoint"}},
          duration_bounds())),
      errors(registry.counter(
          {"smg_router_request_errors_total",
           "Requests whose final answer was an error that is not retried.",
           {"router_type", "backend_type", "connection_mode", "model", "endpoint", "error_type"}})),
      selections(registry.counter({"smg_worker_selection_total",
                                   "Workers chosen for an attempt.",
                                   {"worker_type", "connection_mode", "model", "policy"}})),
      policies(std::move(policy_names)) {}

ModelMetrics::ModelMetrics(ModelFamilies& families, std::string model)
    : families_(families),
      model_(std::move(model)),
      requests_(kEndpoints * 2),
      durations_(kEndpoints),
      errors_(kEndpoints * kErrorTypes),
      selections_(families.policies.size()) {}

void ModelMetrics::count_request(Endpoint endpoint, bool streaming) {
  const std::size_t slot = static_cast<std::size_t>(endpoint) * 2 + (streaming ? 1 : 0);
  requests_
      .get(slot,
           [&]() -> Counter& {
             return families_.requests.at({kRouter, kBackend, kConnection, model_,
                                           text_of(endpoint), streaming ? "true" : "false"});
           })
      .add();
}

void ModelMetrics::observe_duration(Endpoint endpoint, double seconds) {
  durations_
      .get(static_cast<std::size_t>(endpoint),
           [&]() -> Histogram& {
             return families_.durations.at(
                 {kRouter, kBackend, kConnection, model_, text_of(endpoint)});
           })
      .observe(seconds);
}

void ModelMetrics::count_error(Endpoint endpoint, ErrorType type) {
  const std::size_t slot =
      static_cast<std::size_t>(endpoint) * kErrorTypes + static_cast<std::size_t>(type);
  errors_
      .get(slot,
           [&]() -> Counter& {
             return families_.errors.at(
                 {kRouter, kBackend, kConnection, model_, text_of(endpoint), text_of(type)});
           })
      .add();
}

void ModelMetrics::count_selection(PolicyId policy) {
  selections_
      .get(policy,
           [&]() -> Counter& {
             return families_.selections.at(
                 {kBackend, kConnection, model_, families_.policies[policy]});
           })
      .add();
}

}  // namespace smg::metrics
