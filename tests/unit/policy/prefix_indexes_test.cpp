#include "smg/policy/prefix_indexes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace smg::policy {
namespace {

void insert(ModelIndex& index, const std::string& text, index::TenantId tenant) {
  const std::lock_guard lock(index.string_mutex);
  index.strings.match_and_insert(text, [&](const auto&) { return tenant; });
}

void insert(ModelIndex& index, const std::vector<std::uint32_t>& ids, index::TenantId tenant) {
  const std::lock_guard lock(index.token_mutex);
  index.tokens.match_and_insert(ids, [&](const auto&) { return tenant; });
}

std::string text_of(std::size_t number) {
  std::string text = std::to_string(number) + "-";
  text.resize(100, static_cast<char>('a' + number % 26));
  return text;
}

TEST(PrefixIndexes, MakesAModelsTreesOnFirstUse) {
  PrefixIndexes indexes(16, 1000);
  EXPECT_TRUE(indexes.sizes().empty());
  ModelIndex& first = indexes.of("m");
  EXPECT_EQ(&indexes.of("m"), &first);
  EXPECT_NE(&indexes.of("n"), &first);
  EXPECT_EQ(first.model, "m");
  EXPECT_EQ(indexes.sizes().size(), 2U);
}

TEST(PrefixIndexes, TellsTheSizesOfBothTrees) {
  PrefixIndexes indexes(4, 1000);
  insert(indexes.of("m"), "hello", 1);
  insert(indexes.of("m"), "help", 2);
  insert(indexes.of("m"), std::vector<std::uint32_t>{1, 2, 3, 4, 5}, 3);
  const auto sizes = indexes.sizes();
  ASSERT_EQ(sizes.size(), 1U);
  EXPECT_EQ(sizes[0].model, "m");
  EXPECT_EQ(sizes[0].chars, 9U);
  EXPECT_EQ(sizes[0].string_tenants, 2U);
  EXPECT_EQ(sizes[0].tokens, 4U);
  EXPECT_EQ(sizes[0].token_tenants, 1U);
}

TEST(PrefixIndexes, RemovesAWorkerFromEveryTreeAndNobodyElse) {
  PrefixIndexes indexes(4, 100000);
  for (std::size_t i = 0; i < 300; ++i) insert(indexes.of("m"), text_of(i), 1);
  insert(indexes.of("n"), "hello", 1);
  insert(indexes.of("n"), "hello", 2);
  insert(indexes.of("n"), std::vector<std::uint32_t>{1, 2, 3, 4}, 1);
  indexes.remove(1);
  for (const IndexSize& size : indexes.sizes()) {
    EXPECT_EQ(size.chars, size.model == "n" ? 5U : 0U);
    EXPECT_EQ(size.string_tenants, size.model == "n" ? 1U : 0U);
    EXPECT_EQ(size.tokens, 0U);
    EXPECT_EQ(size.token_tenants, 0U);
  }
}

TEST(PrefixIndexes, ClearsEverything) {
  PrefixIndexes indexes(4, 100000);
  ModelIndex& kept = indexes.of("m");
  insert(kept, "hello", 1);
  insert(kept, std::vector<std::uint32_t>{1, 2, 3, 4}, 1);
  indexes.clear();
  EXPECT_EQ(indexes.sizes()[0].chars, 0U);
  EXPECT_EQ(indexes.sizes()[0].tokens, 0U);
  EXPECT_EQ(&indexes.of("m"), &kept);
}

TEST(PrefixIndexes, EvictsInSlicesUntilEveryTreeIsWithinBudget) {
  PrefixIndexes indexes(4, 1000);
  for (std::size_t i = 0; i < 500; ++i) {
    insert(indexes.of("m"), text_of(i), static_cast<index::TenantId>(i % 3));
    insert(indexes.of("n"),
           std::vector<std::uint32_t>{static_cast<std::uint32_t>(i), 1, 2, 3, 4, 5, 6, 7}, 1);
  }
  EXPECT_FALSE(indexes.evict_slice()) << "more than one slice is over budget";
  int slices = 1;
  while (!indexes.evict_slice()) ASSERT_LT(++slices, 1000);
  for (const IndexSize& size : indexes.sizes()) {
    EXPECT_LE(size.chars, 1000U);
    EXPECT_LE(size.tokens, 1000U);
  }
  ModelIndex& m = indexes.of("m");
  EXPECT_EQ(m.strings.match(text_of(499)).matched, 100U) << "the newest prompt still hits";
  EXPECT_LT(m.strings.match(text_of(0)).matched, 100U);
}

TEST(PrefixIndexes, ATreeWithinBudgetIsLeftAlone) {
  PrefixIndexes indexes(4, 1000);
  insert(indexes.of("m"), std::string(1000, 'a'), 1);
  EXPECT_TRUE(indexes.evict_slice());
  EXPECT_EQ(indexes.sizes()[0].chars, 1000U);
}

TEST(PrefixIndexes, MayBeUsedFromManyThreadsAtOnce) {
  PrefixIndexes indexes(4, 2000);
  const std::array<std::string, 3> models = {"a", "b", "c"};
  const auto work = [&](std::size_t seed) {
    for (std::size_t i = 0; i < 300; ++i) {
      const auto tenant = static_cast<index::TenantId>((i + seed) % 4);
      insert(indexes.of(models[(i + seed) % 3]), text_of(i * 7 + seed), tenant);
      if (i % 50 == seed) indexes.remove(tenant);
      if (i % 20 == seed) indexes.evict_slice();
    }
  };
  std::thread first(work, 0);
  std::thread second(work, 1);
  work(2);
  first.join();
  second.join();
  while (!indexes.evict_slice()) {
  }
  EXPECT_EQ(indexes.sizes().size(), 3U);
  for (const IndexSize& size : indexes.sizes()) EXPECT_LE(size.chars, 2000U);
}

}  // namespace
}  // namespace smg::policy
