#include "smg/policy/spill_gate.hpp"

#include <gtest/gtest.h>

#include <array>

namespace smg::policy {
namespace {

TEST(SpillGate, BothMarginsMustBeExceededStrictly) {
  const SpillGate gate{64, 1.5};
  // Mean 128: 1.5 * mean = 192 = mean + 64.
  EXPECT_FALSE(gate.hot(192, 128));
  EXPECT_TRUE(gate.hot(193, 128));
  // Mean 10: mean + 64 = 74 decides.
  EXPECT_FALSE(gate.hot(74, 10));
  EXPECT_TRUE(gate.hot(75, 10));
  // Mean 200: 1.5 * mean = 300 decides.
  EXPECT_FALSE(gate.hot(300, 200));
  EXPECT_TRUE(gate.hot(301, 200));
}

TEST(SpillGate, WithoutMarginsAnyLoadAboveTheMeanIsHot) {
  const SpillGate gate{0, 1.0};
  EXPECT_FALSE(gate.hot(0, 0));
  EXPECT_FALSE(gate.hot(1, 1));
  EXPECT_TRUE(gate.hot(1, 0.5));
}

TEST(SpillGate, AHugeMarginNeverOverflows) {
  const SpillGate gate{0xFFFFFFFF, 1e300};
  EXPECT_FALSE(gate.hot(0xFFFFFFFF, 1));
}

TEST(SpillGate, TheMeanIsOverTheGivenWorkers) {
  worker::Fleet fleet;
  for (int i = 0; i < 3; ++i) fleet.begin_request(0);
  for (int i = 0; i < 100; ++i) fleet.begin_request(2);
  const std::array<worker::WorkerId, 2> some = {0, 1};
  EXPECT_DOUBLE_EQ(mean_load(some, fleet), 1.5);
  EXPECT_DOUBLE_EQ(mean_load({}, fleet), 0.0);
}

}  // namespace
}  // namespace smg::policy
