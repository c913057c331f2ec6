#include "smg/index/token_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace smg::index {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

using Tokens = std::vector<std::uint32_t>;

Tokens counting(std::size_t count, std::uint32_t from = 0) {
  Tokens tokens(count);
  std::iota(tokens.begin(), tokens.end(), from);
  return tokens;
}

PrefixMatch insert(TokenTree& tree, const Tokens& key, TenantId tenant,
                   std::uint64_t partition = 0) {
  return tree.match_and_insert(
      key, [tenant](const PrefixMatch&) { return tenant; }, partition);
}

std::vector<TenantId> holders(const PrefixMatch& match) {
  return {match.holders().begin(), match.holders().end()};
}

TEST(TokenTree, MatchesWholePagesOfTheUnalignedLength) {
  TokenTree tree(16);
  insert(tree, counting(40), 1);
  EXPECT_EQ(tree.size(), 32U);
  const PrefixMatch match = tree.match(counting(31));
  EXPECT_EQ(match.matched, 16U);
  EXPECT_EQ(match.length, 31U);
  EXPECT_THAT(holders(match), ElementsAre(1));
  EXPECT_EQ(tree.match(counting(100)).matched, 32U);
}

TEST(TokenTree, UnderOnePageOnlyTheChoiceIsMade) {
  TokenTree tree(16);
  int calls = 0;
  const PrefixMatch match = tree.match_and_insert(counting(15), [&calls](const PrefixMatch&) {
    ++calls;
    return TenantId{4};
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(match.matched, 0U);
  EXPECT_EQ(match.length, 15U);
  EXPECT_EQ(tree.size(), 0U);
  EXPECT_EQ(tree.tenant_count(), 0U);
}

TEST(TokenTree, AMatchInsideAnEdgeIsCutToWholePages) {
  TokenTree tree(4);
  insert(tree, counting(16), 1);
  Tokens other = counting(16);
  other[11] = 999;
  EXPECT_EQ(insert(tree, other, 2).matched, 8U);
  EXPECT_EQ(tree.size(1), 16U);
  EXPECT_EQ(tree.size(2), 16U);
  EXPECT_EQ(tree.node_count(), 3U);
  EXPECT_THAT(holders(tree.match(counting(8))), UnorderedElementsAre(1, 2));
  EXPECT_THAT(holders(tree.match(counting(12))), ElementsAre(1));
}

TEST(TokenTree, ADifferenceInTheFirstPageIsNoMatch) {
  TokenTree tree(4);
  insert(tree, {1, 2, 3, 4}, 1);
  const PrefixMatch match = tree.match(Tokens{1, 2, 3, 5});
  EXPECT_EQ(match.matched, 0U);
  EXPECT_THAT(holders(match), IsEmpty());
}

TEST(TokenTree, FindsEachOfManyChildren) {
  TokenTree tree(2);
  for (std::uint32_t i = 0; i < 20000; ++i) {
    ASSERT_EQ(insert(tree, {i, i * 7, i}, static_cast<TenantId>(i % 100)).matched, 0U);
  }
  for (std::uint32_t i = 0; i < 20000; ++i) {
    const PrefixMatch match = tree.match(Tokens{i, i * 7, 5});
    ASSERT_EQ(match.matched, 2U);
    ASSERT_THAT(holders(match), ElementsAre(static_cast<TenantId>(i % 100)));
  }
  EXPECT_EQ(tree.size(), 40000U);
}

TEST(TokenTree, IdsUseAllTheirBits) {
  TokenTree tree(1);
  insert(tree, {0xFFFFFFFF, 0x80000000, 0}, 1);
  EXPECT_EQ(tree.match(Tokens{0xFFFFFFFF, 0x80000000, 0}).matched, 3U);
  EXPECT_EQ(tree.match(Tokens{0xFFFFFFFF, 0x80000001, 0}).matched, 1U);
  EXPECT_EQ(tree.match(Tokens{0x7FFFFFFF}).matched, 0U);
}

TEST(TokenTree, PartitionsDoNotMeet) {
  TokenTree tree(1);
  insert(tree, {1, 2, 3}, 1, 42);
  EXPECT_EQ(tree.match(Tokens{1, 2, 3}).matched, 0U);
  EXPECT_EQ(tree.match(Tokens{1, 2, 3}, 42).matched, 3U);
  EXPECT_EQ(tree.size(), 3U);
}

TEST(TokenTree, EvictsTheLeastRecentlyUsedLeafAndKeepsItsHead) {
  TokenTree tree(2);
  insert(tree, {1, 1, 2, 2}, 1);
  insert(tree, {1, 1, 3, 3}, 1);
  insert(tree, {1, 1, 2, 2}, 1);
  EXPECT_EQ(tree.size(), 6U);
  EXPECT_TRUE(tree.evict(5, 1));
  EXPECT_EQ(tree.size(), 4U);
  EXPECT_EQ(tree.match(Tokens{1, 1, 3, 3}).matched, 2U);
  EXPECT_EQ(tree.match(Tokens{1, 1, 2, 2}).matched, 4U);
}

TEST(TokenTree, RemovalLeavesTheOtherTenants) {
  TokenTree tree(1);
  insert(tree, {1, 2, 3}, 1);
  insert(tree, {1, 2, 4}, 2);
  tree.remove(1);
  EXPECT_EQ(tree.size(), 3U);
  EXPECT_EQ(tree.tenant_count(), 1U);
  EXPECT_EQ(tree.match(Tokens{1, 2, 3}).matched, 2U);
  tree.clear();
  EXPECT_EQ(tree.tenant_count(), 0U);
  EXPECT_EQ(tree.node_count(), 0U);
}

TEST(TokenTree, APageMayBeLongerThanAnEdgeOfText) {
  constexpr std::uint32_t kPage = 300000;
  TokenTree tree(kPage);
  insert(tree, counting(kPage * 2), 1);
  EXPECT_EQ(tree.size(), kPage * 2U);
  EXPECT_EQ(tree.match(counting(kPage * 2 - 1)).matched, kPage);
  EXPECT_EQ(tree.match(counting(kPage * 2)).matched, kPage * 2U);
}

TEST(TokenTree, APageSizeOfZeroMeansOne) {
  TokenTree tree(0);
  insert(tree, {5}, 1);
  EXPECT_EQ(tree.match(Tokens{5, 6}).matched, 1U);
}

}  // namespace
}  // namespace smg::index
