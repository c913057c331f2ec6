#include "smg/server/edge_observer.hpp"

#include <string>

namespace smg::server {
namespace {

// As nginx: the client left before it had an answer.
constexpr int kClientClosed = 499;

double seconds_between(TimePoint from, TimePoint to) {
  return std::chrono::duration<double>(to - from).count();
}

bool is_probe(std::string_view path) {
  return path == "/health" || path == "/liveness" || path == "/readiness";
}

}  // namespace

std::vector<metrics::RequestMetricsOptions::GatewayError> gateway_errors() {
  std::vector<metrics::RequestMetricsOptions::GatewayError> errors;
  for (std::size_t i = 0; i < protocol::kErrorCodes; ++i) {
    const auto code = static_cast<protocol::ErrorCode>(i);
    errors.push_back({std::string(protocol::name_of(code)), protocol::status_of(code)});
  }
  return errors;
}

EdgeObserver::EdgeObserver(metrics::RequestMetrics& metrics)
    : metrics_(metrics), log_(log::target("smg::request")) {}

void EdgeObserver::on_request(const proxy::Call& call) noexcept {
  metrics_.active_requests().add(1);
  metrics_.count_request(call.route, metrics::method_of(call.head.method));
}

void EdgeObserver::on_response(const proxy::Call& call) noexcept {
  metrics_.active_requests().add(-1);
  if (call.status != 0) {
    if (call.error) {
      metrics_.count_gateway_error(call.route, static_cast<std::size_t>(*call.error));
    } else {
      metrics_.count_response(call.route, call.status);
    }
    metrics_.observe_head_ready(call.route, metrics::method_of(call.head.method),
                                seconds_between(call.started, call.head_sent));
  }
  log_access(call);
}

void EdgeObserver::log_access(const proxy::Call& call) const {
  log::Level level = log::Level::info;
  std::string_view message = "finished processing request";
  if (is_probe(call.head.path)) {
    level = log::Level::debug;
  } else if (call.status >= 500) {
    level = log::Level::error;
    message = "request failed with server error";
  } else if (call.status >= 400) {
    level = log::Level::warn;
    message = "request failed with client error";
  } else if (call.status == 0) {
    message = "client left before an answer";
  } else if (call.broken) {
    level = log::Level::warn;
    message = "response ended early";
  }
  if (!log_.enabled(level)) return;
  const auto latency = std::chrono::duration_cast<std::chrono::microseconds>(
      (call.status != 0 ? call.head_sent : Clock::now()) - call.started);
  const auto total =
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - call.started);
  const std::int64_t status = call.status != 0 ? call.status : kClientClosed;
  log::write(log_, level, message,
             {{"method", call.head.method},
              {"uri", call.head.path},
              {"status_code", status},
              {"error_code", call.error ? protocol::name_of(*call.error) : std::string_view{}},
              {"latency", static_cast<std::int64_t>(latency.count())},
              {"total", static_cast<std::int64_t>(total.count())},
              {"worker", call.worker ? std::string_view(call.worker->url()) : std::string_view{}},
              {"request_id", call.request_id}});
}

}  // namespace smg::server
