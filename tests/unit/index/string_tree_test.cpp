#include "smg/index/string_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace smg::index {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

PrefixMatch insert(StringTree& tree, std::string_view key, TenantId tenant,
                   std::uint64_t partition = 0) {
  return tree.match_and_insert(
      key, [tenant](const PrefixMatch&) { return tenant; }, partition);
}

std::vector<TenantId> holders(const PrefixMatch& match) {
  return {match.holders().begin(), match.holders().end()};
}

TEST(StringTree, IsEmptyAtFirst) {
  const StringTree tree;
  const PrefixMatch match = tree.match("hello");
  EXPECT_EQ(match.matched, 0U);
  EXPECT_EQ(match.length, 5U);
  EXPECT_THAT(holders(match), IsEmpty());
  EXPECT_EQ(tree.size(), 0U);
  EXPECT_EQ(tree.tenant_count(), 0U);
  EXPECT_EQ(tree.node_count(), 0U);
}

TEST(StringTree, FindsWhatWasInserted) {
  StringTree tree;
  EXPECT_EQ(insert(tree, "hello", 3).matched, 0U);
  const PrefixMatch match = tree.match("hello");
  EXPECT_EQ(match.matched, 5U);
  EXPECT_EQ(match.length, 5U);
  EXPECT_THAT(holders(match), ElementsAre(3));
}

TEST(StringTree, APartialMatchInsideAnEdgeCounts) {
  StringTree tree;
  insert(tree, "hello world", 3);
  const PrefixMatch match = tree.match("help me");
  EXPECT_EQ(match.matched, 3U);
  EXPECT_EQ(match.length, 7U);
  EXPECT_THAT(holders(match), ElementsAre(3));
}

TEST(StringTree, ReportsTheTenantsOfTheDeepestNodeOnly) {
  StringTree tree;
  insert(tree, "shared head", 1);
  insert(tree, "shared head and a tail", 2);
  EXPECT_THAT(holders(tree.match("shared head")), UnorderedElementsAre(1, 2));
  EXPECT_THAT(holders(tree.match("shared")), UnorderedElementsAre(1, 2));
  EXPECT_THAT(holders(tree.match("shared head and")), ElementsAre(2));
}

TEST(StringTree, ASplitGivesTheUpperPartAllTenantsOfTheLower) {
  StringTree tree;
  insert(tree, "abcdef", 1);
  insert(tree, "abcdef", 2);
  insert(tree, "abcxyz", 3);
  EXPECT_THAT(holders(tree.match("abc")), UnorderedElementsAre(1, 2, 3));
  EXPECT_THAT(holders(tree.match("abcd")), UnorderedElementsAre(1, 2));
  EXPECT_THAT(holders(tree.match("abcx")), ElementsAre(3));
  EXPECT_EQ(tree.node_count(), 3U);
}

TEST(StringTree, SizesCountEachTenantsNodes) {
  StringTree tree;
  insert(tree, "abcdef", 1);
  insert(tree, "abcdef", 2);
  insert(tree, "abcxy", 3);
  insert(tree, "abc", 4);
  EXPECT_EQ(tree.size(1), 6U);
  EXPECT_EQ(tree.size(2), 6U);
  EXPECT_EQ(tree.size(3), 5U);
  EXPECT_EQ(tree.size(4), 3U);
  EXPECT_EQ(tree.size(5), 0U);
  EXPECT_EQ(tree.size(), 20U);
  insert(tree, "abcdef", 1);
  EXPECT_EQ(tree.size(), 20U) << "a repeat adds nothing";
}

TEST(StringTree, CountsScalarsNotBytes) {
  StringTree tree;
  insert(tree, "naïve €5 😀!", 1);
  EXPECT_EQ(tree.size(), 11U);
  const PrefixMatch match = tree.match("naïve €5 😀?");
  EXPECT_EQ(match.matched, 10U);
  EXPECT_EQ(match.length, 11U);
}

TEST(StringTree, NeverSplitsInsideAScalar) {
  StringTree tree;
  insert(tree, "x😀", 1);                         // F0 9F 98 80
  EXPECT_EQ(insert(tree, "x😁", 2).matched, 1U);  // F0 9F 98 81
  EXPECT_THAT(holders(tree.match("x")), UnorderedElementsAre(1, 2));
  EXPECT_THAT(holders(tree.match("x😀")), ElementsAre(1));
  EXPECT_THAT(holders(tree.match("x😁")), ElementsAre(2));
  EXPECT_EQ(tree.size(), 4U);
}

TEST(StringTree, TellsChildrenApartWhoseFirstScalarsShareBytes) {
  StringTree tree;
  const std::vector<std::string> scalars = {"é", "è", "€", "₭", "😀", "😁", "a"};
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    EXPECT_EQ(insert(tree, scalars[i] + "tail", static_cast<TenantId>(i)).matched, 0U);
  }
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    const PrefixMatch match = tree.match(scalars[i] + "ta");
    EXPECT_EQ(match.matched, 3U);
    EXPECT_THAT(holders(match), ElementsAre(static_cast<TenantId>(i)));
  }
}

TEST(StringTree, ReportsAtMostEightTenants) {
  StringTree tree;
  for (TenantId tenant = 0; tenant < 50; ++tenant) insert(tree, "shared", tenant);
  const std::vector<TenantId> reported = holders(tree.match("shared"));
  EXPECT_EQ(reported.size(), 8U);
  EXPECT_THAT(reported, testing::Each(testing::Lt(50)));
  EXPECT_EQ(std::set<TenantId>(reported.begin(), reported.end()).size(), 8U);
}

TEST(StringTree, TakesTurnsWhenMoreThanEightHoldAPrefix) {
  StringTree tree;
  for (TenantId tenant = 0; tenant < 20; ++tenant) insert(tree, "shared", tenant);
  std::set<TenantId> seen;
  for (int i = 0; i < 20; ++i) {
    for (const TenantId tenant : holders(insert(tree, "shared", 0))) seen.insert(tenant);
  }
  EXPECT_EQ(seen.size(), 20U);
}

TEST(StringTree, NoTenantInsertsNothing) {
  StringTree tree;
  insert(tree, "abc", kNoTenant);
  EXPECT_EQ(tree.match("abc").matched, 0U);
  EXPECT_EQ(tree.tenant_count(), 0U);
  EXPECT_EQ(tree.node_count(), 0U);
}

TEST(StringTree, EmptyTextOnlyRegistersTheTenant) {
  StringTree tree;
  const PrefixMatch match = insert(tree, "", 7);
  EXPECT_EQ(match.length, 0U);
  EXPECT_EQ(tree.tenant_count(), 1U);
  EXPECT_EQ(tree.size(7), 0U);
  EXPECT_EQ(tree.node_count(), 0U);
}

TEST(StringTree, PartitionsDoNotMeet) {
  StringTree tree;
  insert(tree, "secret", 1, 77);
  EXPECT_EQ(tree.match("secret").matched, 0U);
  EXPECT_EQ(tree.match("secret", 78).matched, 0U);
  EXPECT_EQ(tree.match("secret", 77).matched, 6U);
  insert(tree, "secret", 1);
  EXPECT_EQ(tree.size(), 12U) << "all partitions count";
  tree.remove(1);
  EXPECT_EQ(tree.match("secret", 77).matched, 0U);
  EXPECT_EQ(tree.node_count(), 0U);
}

TEST(StringTree, LookupsMakeNoPartition) {
  StringTree tree;
  const std::size_t before = tree.memory_bytes();
  for (std::uint64_t partition = 1; partition < 1000; ++partition) {
    insert(tree, "x", kNoTenant, partition);
    insert(tree, "", 1, partition);
  }
  EXPECT_LE(tree.memory_bytes(), before + 100);
}

TEST(StringTree, RemovalTakesOneTenantOnly) {
  StringTree tree;
  insert(tree, "abcdef", 1);
  insert(tree, "abcdef", 2);
  insert(tree, "abcxyz", 1);
  tree.remove(1);
  EXPECT_EQ(tree.size(), 6U);
  EXPECT_EQ(tree.size(1), 0U);
  EXPECT_EQ(tree.tenant_count(), 1U);
  EXPECT_THAT(holders(tree.match("abcdef")), ElementsAre(2));
  EXPECT_EQ(tree.match("abcxyz").matched, 3U);
  tree.remove(9);  // never seen
  EXPECT_EQ(tree.size(), 6U);
}

TEST(StringTree, RemovalInSlicesEndsWithTheTenantGone) {
  StringTree tree;
  for (const char* key : {"a", "b", "c", "d", "e"}) insert(tree, key, 1);
  EXPECT_FALSE(tree.remove_some(1, 2));
  EXPECT_EQ(tree.size(1), 3U);
  EXPECT_EQ(tree.tenant_count(), 1U);
  EXPECT_FALSE(tree.remove_some(1, 2));
  EXPECT_TRUE(tree.remove_some(1, 2));
  EXPECT_EQ(tree.tenant_count(), 0U);
}

TEST(StringTree, EvictionLeavesATreeWithinItsBudgetAlone) {
  StringTree tree;
  insert(tree, "abcdef", 1);
  EXPECT_TRUE(tree.evict(6, 10));
  EXPECT_EQ(tree.size(), 6U);
}

TEST(StringTree, EvictionStopsAsSoonAsTheBudgetHolds) {
  StringTree tree;
  for (const char* key : {"aaaa", "bbbb", "cccc", "dddd"}) insert(tree, key, 1);
  EXPECT_TRUE(tree.evict(9, 10));
  EXPECT_EQ(tree.size(), 8U);
  EXPECT_EQ(tree.match("aaaa").matched, 0U);
  EXPECT_EQ(tree.match("bbbb").matched, 0U);
  EXPECT_EQ(tree.match("cccc").matched, 4U);
  EXPECT_EQ(tree.match("dddd").matched, 4U);
}

TEST(StringTree, EvictionGoesBySlices) {
  StringTree tree;
  for (const char* key : {"aaaa", "bbbb", "cccc"}) insert(tree, key, 1);
  EXPECT_FALSE(tree.evict(0, 2));
  EXPECT_EQ(tree.size(), 4U);
  EXPECT_TRUE(tree.evict(0, 2));
  EXPECT_EQ(tree.size(), 0U);
}

TEST(StringTree, InsertingAgainRefreshes) {
  StringTree tree;
  for (const char* key : {"aaaa", "bbbb", "cccc", "aaaa"}) insert(tree, key, 1);
  EXPECT_TRUE(tree.evict(8, 1));
  EXPECT_EQ(tree.match("bbbb").matched, 0U);
  EXPECT_EQ(tree.match("aaaa").matched, 4U);
}

TEST(StringTree, MatchingAloneDoesNotRefresh) {
  StringTree tree;
  for (const char* key : {"aaaa", "bbbb"}) insert(tree, key, 1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(tree.match("aaaa").matched, 4U);
  tree.evict(4, 1);
  EXPECT_EQ(tree.match("aaaa").matched, 0U);
}

TEST(StringTree, EvictsTheLeastRecentlyUsedAcrossTenants) {
  StringTree tree;
  insert(tree, "aaaa", 1);
  insert(tree, "aaaa", 2);
  insert(tree, "bbbb", 1);
  tree.evict(8, 1);
  EXPECT_THAT(holders(tree.match("aaaa")), ElementsAre(2));
  EXPECT_THAT(holders(tree.match("bbbb")), ElementsAre(1));
}

TEST(StringTree, EvictsALeafBeforeThePathAboveIt) {
  StringTree tree;
  insert(tree, "one", 1);
  insert(tree, "one two", 1);
  insert(tree, "one two three", 1);
  tree.evict(7, 1);
  EXPECT_EQ(tree.match("one two three").matched, 7U);
  tree.evict(3, 1);
  EXPECT_EQ(tree.match("one two three").matched, 3U);
}

TEST(StringTree, AnExposedParentGoesNext) {
  StringTree tree;
  insert(tree, "head", 1);
  insert(tree, "head tail", 1);
  insert(tree, "other", 1);
  tree.evict(9, 1);
  EXPECT_EQ(tree.match("head tail").matched, 4U);
  tree.evict(5, 1);
  EXPECT_EQ(tree.match("head").matched, 0U);
  EXPECT_EQ(tree.match("other").matched, 5U);
}

TEST(StringTree, AnExposedParentThatWasUsedItselfStays) {
  StringTree tree;
  insert(tree, "head", 1);
  insert(tree, "head tail", 1);
  insert(tree, "other", 1);
  insert(tree, "head", 1);  // fresher than "other" now
  tree.evict(9, 1);
  EXPECT_EQ(tree.match("head tail").matched, 4U);
  tree.evict(4, 1);
  EXPECT_EQ(tree.match("other").matched, 0U);
  EXPECT_EQ(tree.match("head").matched, 4U);
}

TEST(StringTree, ALeafForOneTenantMayHaveAnothersChildren) {
  StringTree tree;
  insert(tree, "head", 1);
  insert(tree, "head tail", 2);
  tree.evict(tree.size() - 1, 1);
  EXPECT_EQ(tree.size(1), 0U);
  EXPECT_EQ(tree.size(2), 9U);
  EXPECT_THAT(holders(tree.match("head")), ElementsAre(2));
}

TEST(StringTree, EvictedTenantsStayRegistered) {
  StringTree tree;
  insert(tree, "aaaa", 1);
  tree.evict(0, 10);
  EXPECT_EQ(tree.tenant_count(), 1U);
}

TEST(StringTree, ClearForgetsEverything) {
  StringTree tree;
  insert(tree, "aaaa", 1);
  insert(tree, "abab", 2, 5);
  tree.clear();
  EXPECT_EQ(tree.size(), 0U);
  EXPECT_EQ(tree.size(1), 0U);
  EXPECT_EQ(tree.tenant_count(), 0U);
  EXPECT_EQ(tree.match("aaaa").matched, 0U);
  insert(tree, "aaaa", 1);
  EXPECT_EQ(tree.match("aaaa").matched, 4U);
}

TEST(StringTree, HoldsVeryLongTextOfAnyScalars) {
  StringTree tree;
  std::string text;
  for (int i = 0; i < 50000; ++i) text += i % 3 == 0 ? "€" : i % 3 == 1 ? "é" : "x";
  insert(tree, text, 1);
  EXPECT_EQ(tree.size(), 50000U);
  const PrefixMatch match = tree.match(text + "!");
  EXPECT_EQ(match.matched, 50000U);
  EXPECT_EQ(match.length, 50001U);
  insert(tree, text.substr(0, 60000) + "!", 2);  // a multiple of six bytes, so of whole scalars
  EXPECT_EQ(tree.size(2), 30001U);
  EXPECT_EQ(tree.match(text).matched, 50000U);
  while (!tree.evict(0, 1)) {
  }
  EXPECT_EQ(tree.node_count(), 0U);
}

TEST(StringTree, TextThatIsNotUtf8IsNotStored) {
  StringTree tree;
  insert(tree, std::string(100000, '\x80'), 1);
  EXPECT_EQ(tree.node_count(), 0U);
  EXPECT_EQ(tree.size(), 0U);
}

// Edges leave in another order than they came, so that no chunk of memory empties by itself.
TEST(StringTree, GivesMemoryBackAndKeepsWhatWasUsedLast) {
  StringTree tree;
  std::mt19937 random(1);
  std::vector<std::string> keys(12000);
  for (std::string& key : keys) {
    key = "the same head for all ";
    while (key.size() < 700) key += std::to_string(random());
  }
  for (const std::string& key : keys) insert(tree, key, static_cast<TenantId>(random() % 5));
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (random() % 10 == 0) kept.push_back(i);
  }
  for (const std::size_t i : kept) {
    insert(tree, keys[i], holders(tree.match(keys[i])).at(0));
  }
  const std::size_t full = tree.memory_bytes();
  while (!tree.evict(kept.size() * 700, 64)) {
  }
  for (int i = 0; i < 50; ++i) tree.evict(kept.size() * 700, 64);  // lets compaction catch up
  EXPECT_LT(tree.memory_bytes(), full / 3);
  std::size_t whole = 0;
  for (const std::size_t i : kept) whole += tree.match(keys[i]).matched >= 700 ? 1 : 0;
  EXPECT_GT(whole, kept.size() * 9 / 10);
}

TEST(StringTree, MemoryStaysBoundedWhenContentTurnsOver) {
  StringTree tree;
  std::mt19937 random(2);
  std::size_t most = 0;
  for (int i = 0; i < 60000; ++i) {
    std::string key = std::to_string(random() % 100) + "/" + std::to_string(random());
    key.append(random() % 300, static_cast<char>('a' + i % 26));
    insert(tree, key, static_cast<TenantId>(i % 7), i % 3 == 0 ? random() : 0);
    if (i % 100 == 0) {
      while (!tree.evict(200000, 64)) {
      }
    }
    if (i > 10000) most = std::max(most, tree.memory_bytes());
  }
  EXPECT_LT(most, 4U << 20);
}

}  // namespace
}  // namespace smg::index
