#include "smg/base/log_filter.hpp"

#include <gtest/gtest.h>

namespace smg::log {
namespace {

Filter parsed(std::string_view directives, Level fallback = Level::info) {
  auto filter = Filter::parse(directives, fallback);
  EXPECT_TRUE(filter) << filter.error().detail;
  return *filter;
}

TEST(LogLevel, NamesAreReadInAnyCase) {
  EXPECT_EQ(*parse_level("trace"), Level::trace);
  EXPECT_EQ(*parse_level("DEBUG"), Level::debug);
  EXPECT_EQ(*parse_level("Info"), Level::info);
  EXPECT_EQ(*parse_level("warn"), Level::warn);
  EXPECT_EQ(*parse_level("error"), Level::error);
  EXPECT_EQ(*parse_level("off"), Level::off);
}

TEST(LogLevel, OtherWordsAreRefused) {
  for (const char* word : {"", "inf", "info ", "infos", "2"}) EXPECT_FALSE(parse_level(word));
  EXPECT_EQ(parse_level("loud").error().detail,
            "\"loud\" is not a log level: use trace, debug, info, warn, error or off");
}

TEST(LogFilter, NoDirectiveMeansTheFallback) {
  EXPECT_EQ(parsed("", Level::warn).level_of("smg::a"), Level::warn);
  EXPECT_EQ(parsed(" , ", Level::warn).level_of("smg::a"), Level::warn);
}

TEST(LogFilter, ABareLevelReplacesTheFallback) {
  EXPECT_EQ(parsed("error", Level::info).level_of("smg::a"), Level::error);
  EXPECT_EQ(parsed("error,debug", Level::info).level_of("smg::a"), Level::debug);
}

TEST(LogFilter, TheLongestMatchingTargetWins) {
  const Filter filter =
      parsed("info, smg::policies=warn ,smg::policies::cache_aware=debug,smg=error");
  EXPECT_EQ(filter.level_of("smg::policies::cache_aware"), Level::debug);
  EXPECT_EQ(filter.level_of("smg::policies::cache_aware::tree"), Level::debug);
  EXPECT_EQ(filter.level_of("smg::policies::random"), Level::warn);
  EXPECT_EQ(filter.level_of("smg::request"), Level::error);
  EXPECT_EQ(filter.level_of("other"), Level::info);
}

TEST(LogFilter, APrefixEndsAtAPartOfTheName) {
  const Filter filter = parsed("smg::policies=debug");
  EXPECT_EQ(filter.level_of("smg::policies"), Level::debug);
  EXPECT_EQ(filter.level_of("smg::policies_old"), Level::info);
  EXPECT_EQ(filter.level_of("smg::policies:x"), Level::info);
  EXPECT_EQ(filter.level_of("smg"), Level::info);
}

TEST(LogFilter, OfTwoDirectivesForOneTargetTheLaterCounts) {
  EXPECT_EQ(parsed("smg=debug,smg=error").level_of("smg::a"), Level::error);
}

TEST(LogFilter, AMalformedPartIsNamed) {
  const auto sentence = [](std::string_view text) {
    const auto filter = Filter::parse(text, Level::info);
    return filter ? std::string("accepted") : filter.error().detail;
  };
  EXPECT_EQ(sentence("info,inof"),
            "the log filter's part \"inof\" is neither a level nor target=level");
  EXPECT_EQ(sentence("info,smg::a=loud"),
            "the log filter's part \"smg::a=loud\" is not target=level, as in smg::policies=debug");
  EXPECT_EQ(sentence("=info"),
            "the log filter's part \"=info\" is not target=level, as in smg::policies=debug");
  EXPECT_EQ(sentence("smg[span]=info"),
            "the log filter's part \"smg[span]=info\" is not target=level, as in "
            "smg::policies=debug");
}

}  // namespace
}  // namespace smg::log
