#include "smg/metrics/instruments.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <thread>
#include <vector>

namespace smg::metrics {
namespace {

constexpr std::array<double, 3> kBounds{0.1, 1, 10};

std::vector<std::uint64_t> counts(const Histogram& histogram) {
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i <= histogram.bounds().size(); ++i) out.push_back(histogram.count(i));
  return out;
}

TEST(Histogram, AValueBelongsToTheFirstBoundThatIsNotBelowIt) {
  Histogram histogram(kBounds);
  for (const double value : {0.0, 0.1, 0.100001, 1.0, 9.99, 10.0, 10.01, 1e6}) {
    histogram.observe(value);
  }
  EXPECT_EQ(counts(histogram), (std::vector<std::uint64_t>{2, 2, 2, 2}));
}

TEST(Histogram, SumsItsValues) {
  Histogram histogram(kBounds);
  histogram.observe(0.25);
  histogram.observe(3600);
  EXPECT_DOUBLE_EQ(histogram.sum(), 3600.25);
}

TEST(Histogram, ImpossibleValuesDoNoHarm) {
  Histogram histogram(kBounds);
  histogram.observe(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(counts(histogram), (std::vector<std::uint64_t>{0, 0, 0, 0}));
  histogram.observe(-5);
  EXPECT_EQ(counts(histogram), (std::vector<std::uint64_t>{1, 0, 0, 0}));
  EXPECT_EQ(histogram.sum(), 0);
  histogram.observe(std::numeric_limits<double>::infinity());
  EXPECT_EQ(counts(histogram), (std::vector<std::uint64_t>{1, 0, 0, 1}));
  EXPECT_EQ(histogram.sum(), Histogram::kMaxValue);
}

TEST(Instruments, LoseNoUpdateOfManyThreads) {
  constexpr int kThreads = 4;
  constexpr int kUpdates = 10000;
  Counter counter;
  Gauge gauge;
  Histogram histogram(kBounds);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kUpdates; ++i) {
          counter.add();
          gauge.add(i % 2 == 0 ? 3 : -1);
          histogram.observe(0.5);
        }
      });
    }
  }
  EXPECT_EQ(counter.value(), kThreads * kUpdates);
  EXPECT_EQ(gauge.value(), kThreads * kUpdates);
  EXPECT_EQ(histogram.count(1), kThreads * kUpdates);
  EXPECT_DOUBLE_EQ(histogram.sum(), kThreads * kUpdates * 0.5);
}

TEST(Bounds, OfDurationsGoFromAMillisecondToTwoHours) {
  const auto bounds = duration_bounds();
  EXPECT_EQ(bounds.size(), 29u);
  EXPECT_EQ(bounds.front(), 0.001);
  EXPECT_EQ(bounds.back(), 7200);
  EXPECT_TRUE(std::is_sorted(bounds.begin(), bounds.end()));
}

}  // namespace
}  // namespace smg::metrics
