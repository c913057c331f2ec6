#include "smg/app/mock_engine.hpp"

#include <gtest/gtest.h>

#include <string>

namespace smg::app {
namespace {

using namespace std::chrono_literals;

// Blocks of 2 tokens (8 bytes), prefill of 1000 tokens/s, first token 5 ms after it.
MockOptions small_engine() {
  MockOptions options;
  options.block_size = 2;
  options.kv_blocks = 6;
  options.max_running = 2;
  options.prefill_tokens_per_s = 1000;
  options.ttft_ms = 5;
  return options;
}

MockPrompt text(std::string_view prompt) { return prompt_of_text(prompt, 2, ""); }
std::string blocks_of(std::initializer_list<char> letters) {
  std::string result;
  for (const char letter : letters) result.append(8, letter);
  return result;
}

constexpr TimePoint kStart{1000s};

class MockEngineTest : public testing::Test {
 protected:
  // Serves one request alone, from start to end; returns its cached tokens.
  std::uint64_t serve(MockPrompt prompt) {
    const auto id = engine_.submit(prompt);
    const auto started = engine_.advance(now_);
    EXPECT_EQ(started.size(), 1U);
    now_ = started.at(0).first_token;
    engine_.release(id, 1, &prompt, now_);
    return started.at(0).cached_tokens;
  }

  MockEngine engine_{small_engine()};
  TimePoint now_ = kStart;
};

TEST(MockPromptTest, CountsFourBytesAsOneTokenAndOnlyWholeBlocks) {
  EXPECT_EQ(text("").tokens, 0U);
  EXPECT_EQ(text("abcde").tokens, 2U);
  EXPECT_EQ(text("abcdefg").blocks.size(), 0U);
  EXPECT_EQ(text("abcdefgh").blocks.size(), 1U);
  const std::uint32_t ids[] = {1, 2, 3, 4, 5};
  EXPECT_EQ(prompt_of_ids(ids, 2, "").tokens, 5U);
  EXPECT_EQ(prompt_of_ids(ids, 2, "").blocks.size(), 2U);
}

TEST(MockPromptTest, ABlockIsTheWholePrefix) {
  const auto ab = text(blocks_of({'a', 'b'}));
  const auto bb = text(blocks_of({'b', 'b'}));
  EXPECT_NE(ab.blocks[1], bb.blocks[1]);
  EXPECT_EQ(ab.blocks[0], text(blocks_of({'a'})).blocks[0]);
  EXPECT_NE(text("abcdefgh").blocks[0], prompt_of_text("abcdefgh", 2, "salt").blocks[0]);
}

TEST_F(MockEngineTest, CachesWholeBlocksOfTheSharedPrefix) {
  EXPECT_EQ(serve(text(blocks_of({'a', 'b'}) + "tail")), 0U);
  EXPECT_EQ(serve(text(blocks_of({'a', 'b', 'c'}))), 4U);
  EXPECT_EQ(serve(text(blocks_of({'a', 'x', 'c'}))), 2U);
  EXPECT_EQ(serve(text(blocks_of({'x'}))), 0U);
}

TEST_F(MockEngineTest, AlwaysComputesTheLastToken) {
  serve(text(blocks_of({'a', 'b'})));
  EXPECT_EQ(serve(text(blocks_of({'a', 'b'}))), 2U);
  EXPECT_EQ(serve(text(blocks_of({'a', 'b'}) + "x")), 4U);
}

TEST_F(MockEngineTest, KeepsTheAnswerOfAFinishedRequestToo) {
  const auto id = engine_.submit(text(blocks_of({'a'})));
  engine_.advance(now_);
  const auto whole = text(blocks_of({'a', 'b'}));
  engine_.release(id, 2, &whole, now_ + 1s);
  now_ += 1s;
  EXPECT_EQ(serve(text(blocks_of({'a', 'b', 'c'}))), 4U);
}

TEST_F(MockEngineTest, DropsTheLeastRecentlyUsedBlocksEndsFirst) {
  serve(text(blocks_of({'a', 'b', 'c'})));
  serve(text(blocks_of({'k', 'l', 'm'})));  // full: 6 blocks
  serve(text(blocks_of({'a', 'z'})));       // uses a again; c, of the oldest prompt's end, goes
  EXPECT_EQ(serve(text(blocks_of({'a', 'b', 'c', 'd'}))), 4U);  // c and d push out m and l
  EXPECT_EQ(serve(text(blocks_of({'k', 'l', 'm'}))), 2U);
}

TEST_F(MockEngineTest, KeepsTheBeginningOfAPromptThatIsLargerThanTheCache) {
  const auto large = blocks_of({'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'});
  serve(text(large));
  EXPECT_EQ(serve(text(large)), 12U);
}

TEST_F(MockEngineTest, AnEmptyCacheNeverMatches) {
  serve(text(blocks_of({'a', 'b'})));
  engine_.flush_cache();
  EXPECT_EQ(serve(text(blocks_of({'a', 'b'}))), 0U);

  auto options = small_engine();
  options.kv_blocks = 0;
  MockEngine none(options);
  none.submit(text(blocks_of({'a', 'b'})));
  none.advance(kStart);
  none.submit(text(blocks_of({'a', 'b'})));
  EXPECT_EQ(none.advance(kStart + 1s).at(0).cached_tokens, 0U);
  EXPECT_EQ(none.load().usage(), 0);
}

TEST_F(MockEngineTest, FirstTokenComesAfterPrefillAndTtft) {
  engine_.submit(text(std::string(400, 'a')));  // 100 tokens: 100 ms
  const auto started = engine_.advance(kStart);
  ASSERT_EQ(started.size(), 1U);
  EXPECT_EQ(started[0].first_token, kStart + 105ms);
}

TEST_F(MockEngineTest, OnlyUncachedTokensArePrefilled) {
  serve(text(blocks_of({'a', 'b'})));
  now_ += 1s;
  engine_.submit(text(blocks_of({'a', 'b', 'c'})));  // 6 tokens, 4 of them cached
  EXPECT_EQ(engine_.advance(now_).at(0).first_token, now_ + 2ms + 5ms);
}

TEST_F(MockEngineTest, PrefillsOneAfterTheOther) {
  engine_.submit(text(std::string(400, 'a')));
  engine_.submit(text(std::string(200, 'b')));
  EXPECT_EQ(engine_.advance(kStart).size(), 1U);
  EXPECT_EQ(engine_.next_event(), kStart + 100ms);
  EXPECT_TRUE(engine_.advance(kStart + 99ms).empty());
  const auto second = engine_.advance(kStart + 100ms);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].first_token, kStart + 155ms);
}

TEST_F(MockEngineTest, WaitsForAPlaceWhenAllAreTaken) {
  const auto first = engine_.submit(text("aaaa"));
  engine_.submit(text("bbbb"));
  engine_.submit(text("cccc"));
  EXPECT_EQ(engine_.advance(kStart).size(), 1U);
  EXPECT_EQ(engine_.advance(kStart + 1s).size(), 1U);
  EXPECT_TRUE(engine_.advance(kStart + 2s).empty());
  EXPECT_EQ(engine_.next_event(), std::nullopt);
  engine_.release(first, 1, nullptr, kStart + 3s);
  EXPECT_EQ(engine_.advance(kStart + 3s).size(), 1U);
}

TEST_F(MockEngineTest, ARequestThatLeavesFreesItsPlaceInEveryState) {
  const auto prefilling = engine_.submit(text(std::string(4000, 'a')));
  const auto waiting = engine_.submit(text("bbbb"));
  const auto last = engine_.submit(text("cccc"));
  engine_.advance(kStart);
  engine_.release(waiting, 0, nullptr, kStart);
  engine_.release(prefilling, 0, nullptr, kStart + 10ms);
  const auto started = engine_.advance(kStart + 10ms);
  ASSERT_EQ(started.size(), 1U);
  EXPECT_EQ(started[0].id, last);
  engine_.release(last, 0, nullptr, kStart + 20ms);
  EXPECT_EQ(engine_.load().running, 0U);
  EXPECT_EQ(engine_.load().waiting, 0U);
}

TEST_F(MockEngineTest, ReportsItsLoad) {
  serve(text(blocks_of({'a', 'b'})));
  now_ += 1s;
  engine_.submit(text(blocks_of({'a', 'c', 'd'})));       // 6 tokens, 2 cached
  engine_.submit(text(blocks_of({'a', 'b', 'x', 'y'})));  // 8 tokens, 4 cached
  engine_.advance(now_);
  const auto load = engine_.load();
  EXPECT_EQ(load.running, 1U);
  EXPECT_EQ(load.waiting, 1U);
  EXPECT_EQ(load.waiting_uncached_tokens, 4U);
  EXPECT_EQ(load.used_tokens, 6U);
  EXPECT_EQ(load.capacity_tokens, 12U);
  EXPECT_DOUBLE_EQ(load.usage(), 0.5);
  EXPECT_EQ(load.prompt_tokens_total, 10U);
  EXPECT_EQ(load.cached_tokens_total, 2U);
  EXPECT_DOUBLE_EQ(load.hit_rate(), 0.2);
  EXPECT_EQ(load.generated_tokens_total, 1U);
  EXPECT_EQ(load.requests_total, 1U);
}

}  // namespace
}  // namespace smg::app
