// All that /metrics shows. Thread-safe; families live as long as the registry.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smg/metrics/family.hpp"

namespace smg::metrics {

class Registry {
 public:
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

  // Runs at every scrape, on the thread that scrapes, and says what is there now (sample_family.hpp
  // makes families): series of what is gone disappear by themselves. Label values are the
  // collector's to bound.
  using Collector = std::function<std::vector<prometheus::MetricFamily>()>;

  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // A name can be taken once; a second time throws std::logic_error (they are made at start-up).
  CounterVec& counter(Description description);
  GaugeVec& gauge(Description description);
  HistogramVec& histogram(Description description, std::span<const double> bounds);

  // What the collector refers to must outlive the last expose().
  void add_collector(Collector collector);

  // Text format 0.0.4, families by name. A family has its HELP and TYPE also without series;
  // families of one name from several collectors are joined.
  std::string expose() const;

 private:
  template <class Vec>
  Vec& add(std::unique_ptr<Vec> family, const std::string& name);

  mutable std::mutex mutex_;
  std::set<std::string> names_;
  std::vector<std::unique_ptr<Family>> families_;
  std::vector<std::shared_ptr<const Collector>> collectors_;
};

}  // namespace smg::metrics
