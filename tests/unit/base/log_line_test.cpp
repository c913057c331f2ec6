#include "smg/base/log_line.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

namespace smg::log {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;

// 2026-11-30 21:00:00.123456 UTC.
constexpr auto kTime = std::chrono::system_clock::time_point(
                           std::chrono::sys_days{std::chrono::year{2026} / 11 / 30}) +
                       21h + 123456us;

Event event(Level level, std::string_view message, std::initializer_list<Field> fields = {}) {
  return {.time = kTime,
          .level = level,
          .target = "smg::request",
          .message = message,
          .fields = {fields.begin(), fields.size()}};
}

std::string plain(Level level, std::string_view message, std::initializer_list<Field> fields = {}) {
  std::string out;
  append_plain(out, event(level, message, fields));
  return out;
}

std::string json(Level level, std::string_view message, std::initializer_list<Field> fields = {}) {
  std::string out;
  append_json(out, event(level, message, fields));
  return out;
}

// What follows `message v=` in a plain line.
std::string plain_value(std::string_view value) {
  const std::string line = plain(Level::info, "m", {{"v", value}});
  return line.substr(line.find("v=") + 2);
}

std::string json_value(std::string_view value) {
  const std::string line = json(Level::info, "m", {{"v", value}});
  const auto start = line.find("\"v\":") + 4;
  return line.substr(start, line.size() - 1 - start);
}

TEST(PlainLine, HoldsTimeLevelTargetMessageAndFields) {
  EXPECT_EQ(plain(Level::info, "finished processing request",
                  {{"status_code", std::int64_t{200}},
                   {"latency", std::uint64_t{18446744073709551615u}},
                   {"ratio", 0.25},
                   {"streaming", true},
                   {"uri", "/v1/chat/completions"sv}}),
            "2026-11-30 21:00:00  INFO smg::request: finished processing request status_code=200 "
            "latency=18446744073709551615 ratio=0.25 streaming=true uri=/v1/chat/completions");
}

TEST(PlainLine, LevelsAreAlignedToTheRight) {
  EXPECT_EQ(plain(Level::trace, "m"), "2026-11-30 21:00:00 TRACE smg::request: m");
  EXPECT_EQ(plain(Level::debug, "m"), "2026-11-30 21:00:00 DEBUG smg::request: m");
  EXPECT_EQ(plain(Level::warn, "m"), "2026-11-30 21:00:00  WARN smg::request: m");
  EXPECT_EQ(plain(Level::error, "m"), "2026-11-30 21:00:00 ERROR smg::request: m");
}

TEST(PlainLine, ValuesAreQuotedOnlyWhereNeeded) {
  EXPECT_EQ(plain_value("abc-1.2/x:9"), "abc-1.2/x:9");
  EXPECT_EQ(plain_value("h\xC3\xA9"), "h\xC3\xA9");
  EXPECT_EQ(plain_value(""), R"("")");
  EXPECT_EQ(plain_value("va lue"), R"("va lue")");
  EXPECT_EQ(plain_value("a=b"), R"("a=b")");
  EXPECT_EQ(plain_value(R"(say "hi")"), R"("say \"hi\"")");
  EXPECT_EQ(plain_value(R"(a\b)"), R"("a\\b")");
}

TEST(PlainLine, WhatIsNotPrintableTextIsEscaped) {
  EXPECT_EQ(plain_value("a\nb\rc\td"), R"("a\nb\rc\td")");
  EXPECT_EQ(plain_value("a\0b\x1b[31m\x7f"sv), R"("a\x00b\x1b[31m\x7f")");
  EXPECT_EQ(plain_value("\x80\xFF"), R"("\x80\xff")");
  EXPECT_EQ(plain_value("\xC2\x9B"), R"("\u{9b}")");
  EXPECT_EQ(plain_value("\xE2\x80\xA8\xE2\x80\xAE"), R"("\u{2028}\u{202e}")");
}

TEST(PlainLine, AMessageIsEscapedButNotQuoted) {
  EXPECT_EQ(plain(Level::info, "say \"hi\" a=b\nforged line \x1b\xFF"),
            "2026-11-30 21:00:00  INFO smg::request: say \"hi\" a=b\\nforged line \\x1b\\xff");
}

TEST(PlainLine, LongTextsAreCutBetweenScalars) {
  EXPECT_EQ(plain_value(std::string(8192, 'x')), std::string(8192, 'x'));
  EXPECT_EQ(plain_value(std::string(8200, 'x')), '"' + std::string(8192, 'x') + "...(+8 bytes)\"");
  // A scalar of two bytes stands across the limit.
  EXPECT_EQ(plain_value(std::string(8191, 'x') + "\xC3\xA9"),
            '"' + std::string(8191, 'x') + "...(+2 bytes)\"");
}

TEST(PlainLine, TheTimeIsOfTheEventAlsoAfterAnotherSecondWasWritten) {
  std::string out;
  append_plain(out, {.time = kTime + 3h + 1s, .target = "t", .message = "m", .fields = {}});
  EXPECT_EQ(out, "2026-12-01 00:00:01  INFO t: m");
  EXPECT_EQ(plain(Level::info, "m"), "2026-11-30 21:00:00  INFO smg::request: m");
}

TEST(JsonLine, HoldsTimeLevelTargetMessageAndFields) {
  EXPECT_EQ(json(Level::warn, "request failed",
                 {{"status_code", std::int64_t{-404}},
                  {"ratio", 0.25},
                  {"streaming", false},
                  {"uri", "/v1/x"sv}}),
            R"({"timestamp":"2026-11-30T21:00:00.123Z","level":"WARN","target":"smg::request",)"
            R"("message":"request failed","status_code":-404,"ratio":0.25,"streaming":false,)"
            R"("uri":"/v1/x"})");
}

TEST(JsonLine, TextsAreEscaped) {
  EXPECT_EQ(json_value("a\"b\\c\nd\x1b\0"sv), R"("a\"b\\c\nd\u001b\u0000")");
  EXPECT_EQ(json_value("h\xC3\xA9\xC2\x9B\xE2\x80\xA8"), "\"h\xC3\xA9\\u009b\\u2028\"");
  EXPECT_EQ(json_value("a\xFF"), "\"a\xEF\xBF\xBD\"");
}

TEST(JsonLine, NumbersThatAreNotFiniteAreNull) {
  const std::string line = json(Level::info, "m",
                                {{"a", std::numeric_limits<double>::quiet_NaN()},
                                 {"b", std::numeric_limits<double>::infinity()}});
  EXPECT_NE(line.find(R"("a":null,"b":null)"), std::string::npos) << line;
}

}  // namespace
}  // namespace smg::log
