#include "smg/base/log_queue.hpp"

#include <gtest/gtest.h>

namespace smg::log {
namespace {

std::string taken(LogQueue& queue) {
  std::string out = "what was there before";
  queue.take(out);
  return out;
}

TEST(LogQueue, GivesLinesInOrderAndIsEmptyAfterwards) {
  LogQueue queue;
  EXPECT_TRUE(queue.empty());
  queue.push("one");
  queue.push("");
  queue.push("three");
  EXPECT_FALSE(queue.empty());
  EXPECT_EQ(taken(queue), "one\n\nthree\n");
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.dropped(), 0u);
  EXPECT_EQ(taken(queue), "");
}

TEST(LogQueue, DropsTheOldestLinesWhenFull) {
  LogQueue queue;
  const std::size_t pushed = LogQueue::kMaxLines * 3 + 7;
  for (std::size_t i = 0; i < pushed; ++i) queue.push(std::to_string(i));
  EXPECT_EQ(queue.dropped(), pushed - LogQueue::kMaxLines);

  std::string want;
  for (std::size_t i = pushed - LogQueue::kMaxLines; i < pushed; ++i) {
    want += std::to_string(i) + '\n';
  }
  EXPECT_EQ(taken(queue), want);
  queue.reset_dropped();
  EXPECT_EQ(queue.dropped(), 0u);
}

TEST(LogQueue, LongLinesAreBoundedByBytes) {
  LogQueue queue;
  const std::string line((std::size_t{1} << 20) - 1, 'x');  // 1 MiB with its line end
  for (int i = 0; i < 6; ++i) queue.push(line);
  EXPECT_EQ(queue.dropped(), 2u);
  EXPECT_EQ(taken(queue).size(), LogQueue::kMaxBytes);
}

}  // namespace
}  // namespace smg::log
