// Series of one name that differ in the values of a fixed list of labels. Thread-safe.
//
// A series is made at its first at() and lives as long as its family: resolve it once and keep the
// reference, at() locks and looks up strings. What clients send cannot grow a family without
// bound: of each label only the first kMaxValues distinct values are kept, the rest become
// "other"; a value is cut at kMaxValueBytes, and bytes that are not UTF-8 become U+FFFD.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smg/metrics/instruments.hpp"

namespace prometheus {
struct MetricFamily;
}

namespace smg::metrics {

inline constexpr std::string_view kOther = "other";

struct Description {
  std::string name;
  std::string help;  // one line
  std::vector<std::string> labels = {};
};

// A label's value as it is exposed.
std::string label_value(std::string_view text);

class Family {
 public:
  virtual ~Family() = default;
  virtual prometheus::MetricFamily collect() const = 0;
};

template <class Instrument>
class Vec final : public Family {
 public:
  static constexpr std::size_t kMaxValues = 1024;
  using Make = std::function<std::unique_ptr<Instrument>()>;

  Vec(Description description, Make make);

  // One value for each label, in the order of the description.
  Instrument& at(std::span<const std::string_view> values);
  Instrument& at(std::initializer_list<std::string_view> values) {
    return at(std::span(values.begin(), values.size()));
  }

  prometheus::MetricFamily collect() const override;

 private:
  std::string admitted(std::size_t label, std::string_view text);

  const Description description_;
  const Make make_;
  mutable std::mutex mutex_;
  std::vector<std::set<std::string>> values_;  // of each label
  std::map<std::vector<std::string>, std::unique_ptr<Instrument>> series_;
};

inline constexpr std::size_t kMaxValueBytes = 256;

using CounterVec = Vec<Counter>;
using GaugeVec = Vec<Gauge>;
using HistogramVec = Vec<Histogram>;

}  // namespace smg::metrics
