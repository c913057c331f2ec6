// Families built at a scrape from state that lives elsewhere, for Registry::add_collector():
//
//   auto health = gauge_family("smg_worker_health", "1 ready, 0 not.");
//   for (const auto& worker : workers) add_sample(health, {{"worker", worker.url()}}, worker.up());
//   return {health};
#pragma once

#include <prometheus/metric_family.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace smg::metrics {

struct LabelPair {
  std::string_view name;
  std::string_view value;  // any bytes, see label_value() in family.hpp
};

prometheus::MetricFamily gauge_family(std::string name, std::string help);
prometheus::MetricFamily counter_family(std::string name, std::string help);

void add_sample(prometheus::MetricFamily& family, std::initializer_list<LabelPair> labels,
                double value);

}  // namespace smg::metrics
