// What is counted: a counter, a gauge and a histogram. All are lock-free and may be touched from
// any thread; reads are relaxed and may lag.
//
// They are our own because the request path increments about ten of them: prometheus::Counter adds
// doubles in a compare-and-swap loop, prometheus::Histogram takes a mutex.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace smg::metrics {

class Counter {
 public:
  void add(std::uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

class Gauge {
 public:
  void add(std::int64_t n) { value_.fetch_add(n, std::memory_order_relaxed); }
  void set(std::int64_t value) { value_.store(value, std::memory_order_relaxed); }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

// Values from 0; the sum is kept in billionths and a single value counts for at most kMaxValue.
class Histogram {
 public:
  static constexpr double kMaxValue = 1e9;

  // `bounds` ascend, are upper inclusive limits without +Inf, and outlive the histogram.
  explicit Histogram(std::span<const double> bounds)
      : bounds_(bounds), counts_(new std::atomic<std::uint64_t>[bounds.size() + 1] {}) {}

  // A negative value counts as 0, NaN not at all.
  void observe(double value) {
    if (value != value) return;
    const auto at = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
    const double counted = std::clamp(value, 0.0, kMaxValue) * 1e9;
    counts_[static_cast<std::size_t>(at)].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(static_cast<std::uint64_t>(counted), std::memory_order_relaxed);
  }

  std::span<const double> bounds() const { return bounds_; }
  // Of bucket `i` alone, not cumulative; bounds().size() is the one up to +Inf.
  std::uint64_t count(std::size_t i) const { return counts_[i].load(std::memory_order_relaxed); }
  double sum() const { return static_cast<double>(sum_.load(std::memory_order_relaxed)) / 1e9; }

 private:
  std::span<const double> bounds_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> counts_;
  std::atomic<std::uint64_t> sum_{0};
};

// 1 ms to two hours, in seconds: a request may take from a cache hit to a long generation.
std::span<const double> duration_bounds();
// 0, 0.1 … 1.
std::span<const double> ratio_bounds();

}  // namespace smg::metrics
