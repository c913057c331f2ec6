#include "smg/base/log_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <thread>
#include <vector>

namespace smg::log {
namespace {

std::string notice(std::uint64_t dropped) { return "dropped " + std::to_string(dropped); }

TEST(LogWriter, WritesEverythingBeforeItEnds) {
  std::string written;
  {
    LogWriter writer([&](std::string_view lines) { written += lines; }, notice);
    for (int i = 0; i < 3; ++i) writer.put("line " + std::to_string(i));
  }
  EXPECT_EQ(written, "line 0\nline 1\nline 2\n");
}

TEST(LogWriter, WritesWithoutBeingStopped) {
  std::promise<std::string> first;
  std::string written;
  LogWriter writer(
      [&](std::string_view lines) {
        if (written.empty()) first.set_value(std::string(lines));
        written += lines;
      },
      notice);
  writer.put("hello");
  auto future = first.get_future();
  ASSERT_EQ(future.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  EXPECT_EQ(future.get(), "hello\n");
}

TEST(LogWriter, KeepsEveryLineOfManyThreads) {
  constexpr int kThreads = 4;
  constexpr int kLines = 500;
  std::string written;
  {
    LogWriter writer([&](std::string_view lines) { written += lines; }, notice);
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&writer] {
        for (int i = 0; i < kLines; ++i) writer.put("x");
      });
    }
  }
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), kThreads * kLines);
}

TEST(LogWriter, ABlockedOutputLosesOldLinesAndReportsHowMany) {
  std::promise<void> blocked;
  std::promise<void> release;
  std::string written;
  bool first = true;
  {
    LogWriter writer(
        [&](std::string_view lines) {
          if (std::exchange(first, false)) {
            blocked.set_value();
            release.get_future().wait();
          }
          written += lines;
        },
        notice);
    writer.put("first");
    blocked.get_future().wait();
    for (std::size_t i = 0; i < LogQueue::kMaxLines + 10; ++i) writer.put(std::to_string(i));
    release.set_value();
  }
  // Making room for the notice costs one more line.
  EXPECT_TRUE(written.starts_with("first\n11\n12\n")) << written.substr(0, 40);
  EXPECT_TRUE(written.ends_with("\n4105\ndropped 10\n")) << written.substr(written.size() - 40);
}

TEST(LogWriter, AnOutputThatNeverReturnsDoesNotHoldUpTheEnd) {
  struct Gate {
    std::promise<void> entered;
    std::promise<void> release;
    std::promise<void> left;
  };
  auto gate = std::make_shared<Gate>();
  auto writer = std::make_unique<LogWriter>(
      [gate](std::string_view) {
        gate->entered.set_value();
        gate->release.get_future().wait();
        gate->left.set_value();
      },
      notice, std::chrono::milliseconds(20));
  writer->put("stuck");
  gate->entered.get_future().wait();
  auto left = gate->left.get_future();
  writer.reset();  // returns: that is the test
  EXPECT_NE(left.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  gate->release.set_value();
  left.wait();
}

}  // namespace
}  // namespace smg::log
