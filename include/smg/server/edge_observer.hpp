// Counts every request and answer at the edge and writes the access log: one line per request, when
// it has ended. Any I/O thread.
#pragma once

#include <vector>

#include "smg/base/log.hpp"
#include "smg/metrics/request_metrics.hpp"
#include "smg/server/listener.hpp"

namespace smg::server {

// What RequestMetrics is to be made with, so that a protocol::ErrorCode is its ErrorId.
std::vector<metrics::RequestMetricsOptions::GatewayError> gateway_errors();

class EdgeObserver final : public SessionObserver {
 public:
  explicit EdgeObserver(metrics::RequestMetrics& metrics);

  void on_request(const proxy::Call& call) noexcept override;
  void on_response(const proxy::Call& call) noexcept override;

 private:
  void log_access(const proxy::Call& call) const;

  metrics::RequestMetrics& metrics_;
  log::Target& log_;
};

}  // namespace smg::server
