#include "smg/metrics/instruments.hpp"

#include <array>

namespace smg::metrics {

std::span<const double> duration_bounds() {
  static constexpr std::array<double, 29> kBounds{
      0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,    2.5,  5,    10,   15,   30,  45,
      60,    90,    120,  180,   240,  300, 480,  900, 1200, 1800, 2700, 3600, 5400, 7200};
  return kBounds;
}

std::span<const double> ratio_bounds() {
  static constexpr std::array<double, 11> kBounds{0,   0.1, 0.2, 0.3, 0.4, 0.5,
                                                  0.6, 0.7, 0.8, 0.9, 1};
  return kBounds;
}

}  // namespace smg::metrics
