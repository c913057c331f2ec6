#include "../../../src/index/child_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace smg::index {
namespace {

TEST(ChildTable, AsksAboutEachChildOfTheSameHash) {
  ChildTable table;
  for (std::uint32_t node = 0; node < 10; ++node) table.insert(7, node);
  for (std::uint32_t node = 0; node < 10; ++node) {
    EXPECT_EQ(table.find(7, [node](std::uint32_t child) { return child == node; }), node);
  }
  EXPECT_EQ(table.find(7, [](std::uint32_t) { return false; }), kNil);
  EXPECT_EQ(table.find(8, [](std::uint32_t) { return true; }), kNil);
}

TEST(ChildTable, AFullSmallTableStillSaysNo) {
  ChildTable table;
  for (std::uint32_t node = 0; node < 4; ++node) table.insert(node, node);
  EXPECT_EQ(table.find(9, [](std::uint32_t) { return true; }), kNil);
}

// Few different hashes, so that runs are long and wrap around.
TEST(ChildTable, KeepsWhatWasInsertedAndNotErased) {
  std::mt19937 random(3);
  for (int round = 0; round < 30; ++round) {
    const std::uint32_t hashes = 1 + static_cast<std::uint32_t>(random() % 40);
    ChildTable table;
    std::map<std::uint32_t, std::uint32_t> right;  // node -> hash
    for (std::uint32_t node = 0; node < 400; ++node) {
      const std::uint32_t hash = static_cast<std::uint32_t>(random() % hashes) * 0x10001;
      table.insert(hash, node);
      right[node] = hash;
      while (!right.empty() && random() % 100 < 45 + node / 20) {
        const auto gone = std::next(right.begin(), static_cast<long>(random() % right.size()));
        if (random() % 4 == 0) {
          table.replace(gone->second, gone->first, gone->first + 1000);
          table.replace(gone->second, gone->first + 1000, gone->first);
        }
        table.erase(gone->second, gone->first);
        right.erase(gone);
      }
      for (const auto& [kept, its_hash] : right) {
        const std::uint32_t wanted = kept;
        ASSERT_EQ(table.find(its_hash, [wanted](std::uint32_t child) { return child == wanted; }),
                  wanted);
      }
      ASSERT_TRUE(right.empty() || right.contains(table.any()));
    }
  }
}

}  // namespace
}  // namespace smg::index
