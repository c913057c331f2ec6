#include "smg/metrics/registry.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <stdexcept>
#include <utility>

namespace smg::metrics {
namespace {

using prometheus::MetricFamily;

void join(std::map<std::string, MetricFamily>& all, MetricFamily family) {
  const auto [found, is_new] = all.try_emplace(family.name, MetricFamily{});
  if (is_new) {
    found->second = std::move(family);
    return;
  }
  auto& metrics = found->second.metric;
  metrics.insert(metrics.end(), std::make_move_iterator(family.metric.begin()),
                 std::make_move_iterator(family.metric.end()));
}

}  // namespace

Registry::Registry() = default;
Registry::~Registry() = default;

template <class Vec>
Vec& Registry::add(std::unique_ptr<Vec> family, const std::string& name) {
  std::lock_guard lock(mutex_);
  if (!names_.insert(name).second) throw std::logic_error("metric " + name + " exists already");
  Vec& added = *family;
  families_.push_back(std::move(family));
  return added;
}

CounterVec& Registry::counter(Description description) {
  const std::string name = description.name;
  return add(std::make_unique<CounterVec>(std::move(description),
                                          [] { return std::make_unique<Counter>(); }),
             name);
}

GaugeVec& Registry::gauge(Description description) {
  const std::string name = description.name;
  return add(
      std::make_unique<GaugeVec>(std::move(description), [] { return std::make_unique<Gauge>(); }),
      name);
}

HistogramVec& Registry::histogram(Description description, std::span<const double> bounds) {
  const std::string name = description.name;
  return add(std::make_unique<HistogramVec>(
                 std::move(description), [bounds] { return std::make_unique<Histogram>(bounds); }),
             name);
}

void Registry::add_collector(Collector collector) {
  auto shared = std::make_shared<const Collector>(std::move(collector));
  std::lock_guard lock(mutex_);
  collectors_.push_back(std::move(shared));
}

std::string Registry::expose() const {
  std::map<std::string, MetricFamily> all;
  std::vector<std::shared_ptr<const Collector>> collectors;
  {
    std::lock_guard lock(mutex_);
    for (const auto& family : families_) join(all, family->collect());
    collectors = collectors_;
  }
  for (const auto& collect : collectors) {
    for (MetricFamily& family : (*collect)()) join(all, std::move(family));
  }
  std::vector<MetricFamily> families;
  families.reserve(all.size());
  for (auto& [name, family] : all) families.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace smg::metrics
