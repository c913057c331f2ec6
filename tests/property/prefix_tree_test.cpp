// Both prefix trees against the oracle under random operations.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "prefix_oracle.hpp"
#include "smg/index/string_tree.hpp"
#include "smg/index/token_tree.hpp"

namespace smg::index {
namespace {

using Key = PrefixOracle::Key;

std::string utf8(const Key& scalars) {
  std::string out;
  const auto add = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  for (const std::uint32_t c : scalars) {
    if (c < 0x80) {
      add(c);
    } else if (c < 0x800) {
      add(0xC0 | c >> 6);
      add(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
      add(0xE0 | c >> 12);
      add(0x80 | (c >> 6 & 0x3F));
      add(0x80 | (c & 0x3F));
    } else {
      add(0xF0 | c >> 18);
      add(0x80 | (c >> 12 & 0x3F));
      add(0x80 | (c >> 6 & 0x3F));
      add(0x80 | (c & 0x3F));
    }
  }
  return out;
}

struct Strings {
  explicit Strings(std::size_t /*page*/) {}
  static std::string encode(const Key& key) { return utf8(key); }
  StringTree tree;
};

struct Tokens {
  explicit Tokens(std::size_t page) : tree(static_cast<std::uint32_t>(page)) {}
  static const Key& encode(const Key& key) { return key; }
  TokenTree tree;
};

struct Scenario {
  std::vector<std::uint32_t> alphabet;
  std::size_t page = 1;
  std::size_t max_units = 24;
  TenantId tenants = 6;
  std::uint64_t partitions = 1;
  std::uint32_t seed = 1;
};

template <class Subject>
class Walk {
 public:
  explicit Walk(const Scenario& scenario)
      : scenario_(scenario),
        subject_(scenario.page),
        oracle_(scenario.page),
        random_(scenario.seed) {}

  void run(int operations) {
    for (int i = 0; i < operations && !testing::Test::HasFailure(); ++i) {
      const std::size_t what = pick(1000);
      if (what < 4) {
        remove();
      } else if (what < 12) {
        evict();
      } else if (what < 300) {
        match();
      } else {
        insert();
      }
      ASSERT_EQ(tree().size(), booked_) << "after operation " << i;
      if (i % 64 == 0) check_sizes();
    }
    if (!testing::Test::HasFailure()) empty();
  }

 private:
  auto& tree() { return subject_.tree; }
  std::size_t pick(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_);
  }
  TenantId tenant() { return static_cast<TenantId>(pick(scenario_.tenants)); }
  std::uint64_t partition() { return pick(scenario_.partitions); }

  // Often an old key that is cut, extended, or changed at the end: random keys alone never meet.
  Key key() {
    Key key;
    if (!keys_.empty() && pick(4) != 0) {
      key = keys_[pick(keys_.size())];
      key.resize(key.size() - pick(key.size() + 1));
    }
    const std::size_t target = key.size() + pick(scenario_.max_units / 2);
    while (key.size() < std::min(target, scenario_.max_units)) {
      key.push_back(scenario_.alphabet[pick(scenario_.alphabet.size())]);
    }
    if (keys_.size() < 64) {
      keys_.push_back(key);
    } else {
      keys_[pick(64)] = key;
    }
    return key;
  }

  void expect_answer(const PrefixMatch& match, std::uint64_t where, const Key& key) {
    const PrefixOracle::Answer right = oracle_.match(where, key);
    ASSERT_EQ(match.matched, right.matched);
    ASSERT_EQ(match.length, key.size());
    const std::set<TenantId> got(match.holders().begin(), match.holders().end());
    ASSERT_EQ(got.size(), match.tenant_count) << "a tenant is reported twice";
    if (right.holders.size() <= kMaxReportedTenants) {
      ASSERT_EQ(got, right.holders);
    } else {
      ASSERT_EQ(got.size(), kMaxReportedTenants);
      ASSERT_TRUE(
          std::includes(right.holders.begin(), right.holders.end(), got.begin(), got.end()));
    }
  }

  void match() {
    const Key asked = key();
    const std::uint64_t where = partition();
    expect_answer(tree().match(Subject::encode(asked), where), where, asked);
  }

  void insert() {
    const Key asked = key();
    const std::uint64_t where = partition();
    const TenantId chosen = pick(50) == 0 ? kNoTenant : tenant();
    int calls = 0;
    const PrefixMatch match = tree().match_and_insert(
        Subject::encode(asked),
        [&](const PrefixMatch& seen) {
          ++calls;
          expect_answer(seen, where, asked);
          return chosen;
        },
        where);
    ASSERT_EQ(calls, 1);
    expect_answer(match, where, asked);
    if (chosen != kNoTenant) oracle_.insert(where, asked, chosen);
    booked_ = oracle_.size();
  }

  void remove() {
    const TenantId gone = tenant();
    tree().remove(gone);
    oracle_.remove(gone);
    booked_ = oracle_.size();
    EXPECT_EQ(tree().size(gone), 0U);
  }

  void check_sizes() {
    for (TenantId id = 0; id < scenario_.tenants; ++id) {
      ASSERT_EQ(tree().size(id), oracle_.size(id)) << "tenant " << id;
    }
  }

  // Whether the tree still has this prefix for this tenant; exact while eight tenants or fewer.
  bool tree_holds(const PrefixOracle::Place& place, TenantId tenant) {
    const PrefixMatch match = tree().match(Subject::encode(place.second), place.first);
    const auto holders = match.holders();
    return match.matched == place.second.size() &&
           std::find(holders.begin(), holders.end(), tenant) != holders.end();
  }

  void evict() {
    if (scenario_.tenants > kMaxReportedTenants) return;
    const std::uint64_t before = booked_;
    const std::uint64_t budget = pick(before + 1);
    if (pick(2) == 0) {
      tree().evict(budget, 1);
    } else {
      while (!tree().evict(budget, 1 + pick(16))) {
      }
      ASSERT_LE(tree().size(), budget);
    }
    std::uint64_t freshest_gone = 0;
    std::uint64_t stalest_kept = ~std::uint64_t{0};
    std::vector<std::pair<PrefixOracle::Place, TenantId>> gone;
    for (const auto& [place, holders] : oracle_.places()) {
      for (const auto& [tenant, use] : holders) {
        if (tree_holds(place, tenant)) {
          stalest_kept = std::min(stalest_kept, use);
        } else {
          freshest_gone = std::max(freshest_gone, use);
          gone.emplace_back(place, tenant);
        }
      }
    }
    ASSERT_LE(freshest_gone, stalest_kept) << "something used later went first";
    ASSERT_TRUE(gone.empty() || budget < before);
    for (const auto& [place, tenant] : gone) oracle_.erase(place, tenant);
    booked_ = oracle_.size();
    check_sizes();
  }

  void empty() {
    while (!tree().evict(0, 7)) {
    }
    EXPECT_EQ(tree().size(), 0U);
    EXPECT_EQ(tree().node_count(), 0U);
    EXPECT_EQ(tree().match(Subject::encode(keys_[0])).matched, 0U);
  }

  const Scenario scenario_;
  Subject subject_;
  PrefixOracle oracle_;
  std::mt19937 random_;
  std::vector<Key> keys_;
  std::uint64_t booked_ = 0;
};

const std::vector<std::uint32_t> kAscii = {'a', 'b', 'c'};
// Scalars of every length, some of which differ only in a later byte.
const std::vector<std::uint32_t> kUnicode = {'a',    0xE9,    0xE8,    0x20AC, 0x20AD,
                                             0x21AC, 0x1F600, 0x1F601, 0x7FF,  0x10FFFF};

TEST(StringTreeProperty, AsciiTextAnswersAsTheOracle) {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    Walk<Strings>({.alphabet = kAscii, .seed = seed}).run(4000);
  }
}

TEST(StringTreeProperty, MultiByteTextAnswersAsTheOracle) {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    Walk<Strings>({.alphabet = kUnicode, .seed = seed}).run(4000);
  }
}

TEST(StringTreeProperty, LongEdgesAnswerAsTheOracle) {
  Walk<Strings>({.alphabet = kUnicode, .max_units = 600, .tenants = 3, .seed = 5}).run(400);
}

TEST(StringTreeProperty, MoreTenantsThanReportedAnswerAsTheOracle) {
  Walk<Strings>({.alphabet = {'a', 'b'}, .max_units = 10, .tenants = 20, .seed = 6}).run(8000);
}

TEST(StringTreeProperty, PartitionsAnswerAsTheOracle) {
  Walk<Strings>({.alphabet = kUnicode, .partitions = 5, .seed = 7}).run(4000);
}

TEST(TokenTreeProperty, PagesAnswerAsTheOracle) {
  for (const std::size_t page : {1, 16, 64}) {
    for (std::uint32_t seed = 1; seed <= 3; ++seed) {
      Walk<Tokens>(
          {.alphabet = {7, 0x80000007}, .page = page, .max_units = 8 * page + 5, .seed = seed})
          .run(8000);
    }
  }
}

TEST(TokenTreeProperty, PartitionsAndManyTenantsAnswerAsTheOracle) {
  Walk<Tokens>({.alphabet = {1, 2, 3}, .page = 2, .tenants = 20, .partitions = 3, .seed = 9})
      .run(5000);
  Walk<Tokens>({.alphabet = {1, 2, 3}, .page = 4, .partitions = 4, .seed = 10}).run(4000);
}

TEST(StringTreeProperty, BytesThatAreNoTextLeaveNothingBehind) {
  std::mt19937 random(11);
  const std::string bytes = "a\x80\xBF\xC3\xE2\xF0\xFF";
  StringTree tree;
  for (int i = 0; i < 20000; ++i) {
    std::string key(random() % 12, 'a');
    for (char& byte : key) byte = bytes[random() % bytes.size()];
    const auto tenant = static_cast<TenantId>(random() % 3);
    const PrefixMatch match =
        tree.match_and_insert(key, [&](const PrefixMatch&) { return tenant; });
    ASSERT_LE(match.matched, match.length);
    if (i % 500 == 0) tree.evict(1000, 100);
  }
  tree.remove(0);
  while (!tree.evict(0, 64)) {
  }
  EXPECT_EQ(tree.size(), 0U);
  EXPECT_EQ(tree.node_count(), 0U);
}

}  // namespace
}  // namespace smg::index
