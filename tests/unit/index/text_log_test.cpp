#include "../../../src/index/text_log.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace smg::index {
namespace {

struct Piece {
  std::string text;  // empty: dropped
  std::uint32_t ref = 0;
};

class TextLogTest : public testing::Test {
 protected:
  void put(std::size_t bytes) {
    const auto owner = static_cast<std::uint32_t>(pieces_.size());
    std::string text(bytes, '\0');
    for (char& byte : text) byte = static_cast<char>(random_());
    pieces_.push_back({text, log_.put(owner, text.data(), text.size())});
    live_ += bytes + 8;
  }

  void drop(Piece& piece) {
    log_.drop(piece.ref, piece.text.size());
    live_ -= piece.text.size() + 8;
    piece.text.clear();
  }

  void compact(std::size_t quota) {
    log_.compact(
        quota, [this](std::uint32_t owner) { return pieces_[owner].text.size(); },
        [this](std::uint32_t owner, std::uint32_t ref) { pieces_[owner].ref = ref; });
  }

  void expect_all_there() {
    for (const Piece& piece : pieces_) {
      if (piece.text.empty()) continue;
      ASSERT_EQ(std::memcmp(log_.at(piece.ref), piece.text.data(), piece.text.size()), 0);
    }
  }

  TextLog log_{1 << 15};
  std::vector<Piece> pieces_;
  std::mt19937 random_{4};
  std::size_t live_ = 0;
};

TEST_F(TextLogTest, KeepsPiecesOfEveryLength) {
  for (std::size_t bytes = 1; bytes < 2000; ++bytes) put(bytes);
  expect_all_there();
}

TEST_F(TextLogTest, ShorteningKeepsTheFrontForItsNewOwner) {
  for (std::size_t i = 0; i < 3000; ++i) put(1 + random_() % 3000);
  for (std::uint32_t owner = 0; owner < 3000; ++owner) {
    Piece old = pieces_[owner];
    const std::size_t kept = 1 + random_() % old.text.size();
    if (kept == old.text.size()) continue;
    log_.shorten(old.ref, old.text.size(), kept, static_cast<std::uint32_t>(pieces_.size()));
    pieces_.push_back({old.text.substr(0, kept), old.ref});
    pieces_[owner].text.clear();
  }
  while (log_.wants_compaction()) compact(1000);
  expect_all_there();
}

TEST_F(TextLogTest, CompactionBoundsMemoryByTwiceWhatIsLive) {
  for (int i = 0; i < 20000; ++i) put(1 + random_() % 1000);
  EXPECT_LT(log_.memory_bytes(), live_ + live_ / 8 + (2U << 20));
  for (Piece& piece : pieces_) {
    if (random_() % 8 != 0) drop(piece);
  }
  EXPECT_TRUE(log_.wants_compaction());
  while (log_.wants_compaction()) compact(5000);
  EXPECT_LT(log_.memory_bytes(), 2 * live_ + (2U << 20));
  expect_all_there();
}

TEST_F(TextLogTest, DroppingEverythingGivesAllButOneChunkBack) {
  for (int i = 0; i < 10000; ++i) put(1000);
  const std::size_t full = log_.memory_bytes();
  for (Piece& piece : pieces_) drop(piece);
  EXPECT_GT(full, 10'000'000U);
  EXPECT_LT(log_.memory_bytes(), 100'000U);
}

TEST_F(TextLogTest, ACompactionStopsNearItsQuota) {
  for (int i = 0; i < 4000; ++i) put(1000);
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (i % 3 != 0) drop(pieces_[i]);
  }
  std::size_t moved = 0;
  log_.compact(
      10'000, [this](std::uint32_t owner) { return pieces_[owner].text.size(); },
      [&](std::uint32_t owner, std::uint32_t ref) {
        pieces_[owner].ref = ref;
        moved += pieces_[owner].text.size();
      });
  EXPECT_GE(moved, 9'000U);
  EXPECT_LE(moved, 11'000U);
}

}  // namespace
}  // namespace smg::index
