#include "smg/metrics/family.hpp"

#include <prometheus/metric_family.h>

#include <limits>
#include <utility>

#include "smg/base/utf8.hpp"

namespace smg::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;

MetricType type_of(const Counter*) { return MetricType::Counter; }
MetricType type_of(const Gauge*) { return MetricType::Gauge; }
MetricType type_of(const Histogram*) { return MetricType::Histogram; }

void read(const Counter& counter, ClientMetric& metric) {
  metric.counter.value = static_cast<double>(counter.value());
}

void read(const Gauge& gauge, ClientMetric& metric) {
  metric.gauge.value = static_cast<double>(gauge.value());
}

void read(const Histogram& histogram, ClientMetric& metric) {
  const auto bounds = histogram.bounds();
  std::uint64_t cumulative = 0;
  for (std::size_t i = 0; i <= bounds.size(); ++i) {
    cumulative += histogram.count(i);
    const double bound = i < bounds.size() ? bounds[i] : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back({cumulative, bound});
  }
  metric.histogram.sample_count = cumulative;
  metric.histogram.sample_sum = histogram.sum();
}

}  // namespace

std::string label_value(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto size = first_scalar(text).size;
    const std::string_view shown = size == 0 ? "\xEF\xBF\xBD" : text.substr(0, size);
    if (out.size() + shown.size() > kMaxValueBytes) break;
    out += shown;
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

template <class Instrument>
Vec<Instrument>::Vec(Description description, Make make)
    : description_(std::move(description)),
      make_(std::move(make)),
      values_(description_.labels.size()) {}

template <class Instrument>
std::string Vec<Instrument>::admitted(std::size_t label, std::string_view text) {
  std::string value = label_value(text);
  std::set<std::string>& known = values_[label];
  if (!known.contains(value)) {
    if (known.size() >= kMaxValues) return std::string(kOther);
    known.insert(value);
  }
  return value;
}

template <class Instrument>
Instrument& Vec<Instrument>::at(std::span<const std::string_view> values) {
  std::lock_guard lock(mutex_);
  std::vector<std::string> key(description_.labels.size());
  for (std::size_t i = 0; i < key.size() && i < values.size(); ++i) {
    key[i] = admitted(i, values[i]);
  }
  auto& series = series_[std::move(key)];
  if (!series) series = make_();
  return *series;
}

template <class Instrument>
prometheus::MetricFamily Vec<Instrument>::collect() const {
  prometheus::MetricFamily family{
      .name = description_.name,
      .help = description_.help,
      .type = type_of(static_cast<const Instrument*>(nullptr)),
      .metric = {},
  };
  std::lock_guard lock(mutex_);
  family.metric.reserve(series_.size());
  for (const auto& [values, instrument] : series_) {
    ClientMetric& metric = family.metric.emplace_back();
    for (std::size_t i = 0; i < values.size(); ++i) {
      metric.label.push_back({description_.labels[i], values[i]});
    }
    read(*instrument, metric);
  }
  return family;
}

template class Vec<Counter>;
template class Vec<Gauge>;
template class Vec<Histogram>;

}  // namespace smg::metrics
