#include "smg/app/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smg::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CommandLineTest : public testing::Test {
 protected:
  CommandLineResult read(const std::vector<std::string>& args) {
    static constexpr std::string_view unsupported[] = {"--old-*", "--mode=plain"};
    const FlagTable table = {
        {"Group",
         {integer({{"--number", "--count"}, ""}, {1, 9}, number_), toggle({{"--loud"}, ""}, loud_),
          text_list({{"--header"}, ""}, kHeaderName, headers_)}}};
    return read_command_line(table, {args, {}, unsupported});
  }

  std::uint32_t number_ = 5;
  bool loud_ = false;
  std::vector<std::string> headers_;
};

TEST_F(CommandLineTest, ValuesComeBehindABlankOrAnEqualsSign) {
  EXPECT_THAT(read({"--number", "3"}).errors, IsEmpty());
  EXPECT_EQ(number_, 3U);
  EXPECT_THAT(read({"--number=4"}).errors, IsEmpty());
  EXPECT_EQ(number_, 4U);
}

TEST_F(CommandLineTest, TheLastOfARepeatedSingleValueCounts) {
  const auto result = read({"--number", "3", "--count", "7"});
  EXPECT_THAT(result.errors, IsEmpty());
  EXPECT_EQ(number_, 7U);
  EXPECT_TRUE(result.was_given("--number"));
  EXPECT_FALSE(result.was_given("--header"));
}

TEST_F(CommandLineTest, SwitchesTurnOnAndOff) {
  read({"--loud"});
  EXPECT_TRUE(loud_);
  read({"--no-loud"});
  EXPECT_FALSE(loud_);
  read({"--loud=YES"});
  EXPECT_TRUE(loud_);
  read({"--loud=0"});
  EXPECT_FALSE(loud_);
  EXPECT_THAT(read({"--no-number"}).errors, ElementsAre("--no-number: unknown flag"));
}

TEST_F(CommandLineTest, NothingIsWrittenByAListWithOneBadItem) {
  EXPECT_THAT(
      read({"--header", "good", "b@d", "w:rse"}).errors,
      ElementsAre("--header: b@d is not a header name", "--header: w:rse is not a header name"));
  EXPECT_THAT(headers_, IsEmpty());
}

TEST_F(CommandLineTest, MissingValuesAreAllReported) {
  EXPECT_THAT(
      read({"--number", "--header", "--loud"}).errors,
      ElementsAre("--number: needs a value (1..9)", "--header: needs a value (header names)"));
  EXPECT_TRUE(loud_);
  EXPECT_THAT(read({"--number="}).errors,
              ElementsAre("--number: \"\" is not a whole number (1..9)"));
}

TEST_F(CommandLineTest, NegativeNumbersAreValues) {
  EXPECT_THAT(read({"--number", "-1"}).errors, ElementsAre("--number: -1 is out of range (1..9)"));
}

TEST_F(CommandLineTest, UnknownFlagsAreNamedWithACloseOne) {
  EXPECT_THAT(read({"--numbre", "3"}).errors,
              ElementsAre("--numbre: unknown flag (did you mean --number?)"));
  EXPECT_THAT(read({"--something-else", "3", "4"}).errors,
              ElementsAre("--something-else: unknown flag"));
}

TEST_F(CommandLineTest, StrayArgumentsAreNamed) {
  EXPECT_THAT(read({"stray", "--loud", "true"}).errors,
              ElementsAre("stray: unexpected argument", "true: unexpected argument"));
}

TEST_F(CommandLineTest, FlagsOfMissingPartsSaySo) {
  EXPECT_THAT(read({"--old-thing", "3", "--mode", "fancy"}).errors,
              ElementsAre("--old-thing: not supported by this build",
                          "--mode: not supported by this build"));
  EXPECT_THAT(read({"--mode", "plain", "--number", "3"}).errors, IsEmpty());
  EXPECT_EQ(number_, 3U);
}

TEST_F(CommandLineTest, HelpAndVersionAreNotValues) {
  const auto result = read({"--header", "a", "-h", "-V"});
  EXPECT_TRUE(result.help);
  EXPECT_TRUE(result.version);
  EXPECT_THAT(headers_, ElementsAre("a"));
}

TEST_F(CommandLineTest, MessagesStayOnOneLineOfFairLength) {
  const auto errors = read({"--number", "a\nb\x1b[31m" + std::string(5000, 'x')}).errors;
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].find_first_of("\n\x1b"), std::string::npos);
  EXPECT_LT(errors[0].size(), 200U);
}

TEST(EnvironmentName, IsTheFlagInCapitals) {
  EXPECT_EQ(environment_name("--log-level"), "SMG_LOG_LEVEL");
}

}  // namespace
}  // namespace smg::app
