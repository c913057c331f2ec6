#include "smg/metrics/sample_family.hpp"

#include <utility>

#include "smg/metrics/family.hpp"

namespace smg::metrics {

using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily gauge_family(std::string name, std::string help) {
  return {
      .name = std::move(name), .help = std::move(help), .type = MetricType::Gauge, .metric = {}};
}

MetricFamily counter_family(std::string name, std::string help) {
  return {
      .name = std::move(name), .help = std::move(help), .type = MetricType::Counter, .metric = {}};
}

void add_sample(MetricFamily& family, std::initializer_list<LabelPair> labels, double value) {
  auto& metric = family.metric.emplace_back();
  for (const LabelPair& label : labels) {
    metric.label.push_back({std::string(label.name), label_value(label.value)});
  }
  if (family.type == MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
}

}  // namespace smg::metrics
