#include "smg/base/byte_buffer.hpp"

#include <gtest/gtest.h>

#include <string>

namespace smg {
namespace {

TEST(ByteBuffer, KeepsWhatWasAppendedAcrossGrowth) {
  ByteBuffer buffer;
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    const std::string piece(static_cast<std::size_t>(i), static_cast<char>('a' + i % 26));
    buffer.append(piece);
    expected += piece;
  }
  EXPECT_EQ(buffer.view(), expected);
}

TEST(ByteBuffer, ConsumingFromTheFrontKeepsTheRest) {
  ByteBuffer buffer;
  buffer.append("hello world");
  buffer.consume(6);
  EXPECT_EQ(buffer.view(), "world");
  buffer.append("!");
  EXPECT_EQ(buffer.view(), "world!");
}

TEST(ByteBuffer, ReusesConsumedSpaceInsteadOfGrowing) {
  ByteBuffer buffer;
  buffer.append(std::string(1000, 'x'));
  const std::size_t capacity = buffer.capacity();
  for (int i = 0; i < 100; ++i) {
    buffer.consume(buffer.size() - 10);
    buffer.append(std::string(500, 'y'));
  }
  EXPECT_EQ(buffer.capacity(), capacity);
  EXPECT_EQ(buffer.size(), 510U);
}

TEST(ByteBuffer, RoomMeansNoMove) {
  ByteBuffer buffer;
  buffer.prepare(100);
  buffer.append("abc");
  const char* before = buffer.view().data();
  ASSERT_GE(buffer.room(), 50U);
  buffer.prepare(50);
  EXPECT_EQ(buffer.view().data(), before);
}

TEST(ByteBuffer, ReleaseGivesTheMemoryBack) {
  ByteBuffer buffer;
  buffer.append("abc");
  buffer.release();
  EXPECT_EQ(buffer.capacity(), 0U);
  EXPECT_TRUE(buffer.empty());
}

}  // namespace
}  // namespace smg
