#include "smg/base/deadlines.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace smg {
namespace {

using std::chrono::milliseconds;

class Recorder final : public Deadline {
 public:
  void on_deadline() override {
    fired_at = Clock::now();
    ++count;
  }
  TimePoint fired_at{};
  int count = 0;
};

TEST(Deadlines, FiresOnceAndNeverEarly) {
  asio::io_context context;
  Deadlines deadlines(context);
  Recorder recorder;
  const TimePoint start = Clock::now();
  deadlines.arm(recorder, milliseconds(150));
  context.run();  // ends by itself: nothing ticks once nothing is armed
  EXPECT_EQ(recorder.count, 1);
  EXPECT_GE(recorder.fired_at - start, milliseconds(150));
  EXPECT_FALSE(recorder.armed());
}

TEST(Deadlines, ADisarmedOneDoesNotFire) {
  asio::io_context context;
  Deadlines deadlines(context);
  Recorder disarmed;
  Recorder other;
  deadlines.arm(disarmed, milliseconds(10));
  deadlines.arm(other, milliseconds(120));
  disarmed.disarm();
  context.run();
  EXPECT_EQ(disarmed.count, 0);
  EXPECT_EQ(other.count, 1);
}

TEST(Deadlines, ArmingAgainReplacesTheFirst) {
  asio::io_context context;
  Deadlines deadlines(context);
  Recorder recorder;
  const TimePoint start = Clock::now();
  deadlines.arm(recorder, milliseconds(10));
  deadlines.arm(recorder, milliseconds(250));
  context.run();
  EXPECT_EQ(recorder.count, 1);
  EXPECT_GE(recorder.fired_at - start, milliseconds(250));
}

TEST(Deadlines, OneThatIsDestroyedIsForgotten) {
  asio::io_context context;
  Deadlines deadlines(context);
  auto gone = std::make_unique<Recorder>();
  deadlines.arm(*gone, milliseconds(10));
  gone.reset();
  context.run();
}

class Rearming final : public Deadline {
 public:
  explicit Rearming(Deadlines& deadlines) : deadlines_(deadlines) {}
  void on_deadline() override {
    if (++count < 3) deadlines_.arm(*this, milliseconds(0));
  }
  int count = 0;

 private:
  Deadlines& deadlines_;
};

TEST(Deadlines, MayBeArmedAgainFromItsCallback) {
  asio::io_context context;
  Deadlines deadlines(context);
  Rearming rearming(deadlines);
  deadlines.arm(rearming, milliseconds(0));
  context.run();
  EXPECT_EQ(rearming.count, 3);
}

}  // namespace
}  // namespace smg
