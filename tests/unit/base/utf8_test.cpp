#include "smg/base/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

namespace smg {
namespace {

TEST(Utf8, WellFormedScalarsOfEachSizeAreDecoded) {
  struct Case {
    std::string_view text;
    char32_t value;
    int size;
  };
  using namespace std::string_view_literals;
  for (const Case& c :
       {Case{"\0x"sv, 0, 1}, Case{"\x7f", 0x7F, 1}, Case{"\xC2\x80", 0x80, 2},
        Case{"\xDF\xBF", 0x7FF, 2}, Case{"\xE0\xA0\x80", 0x800, 3}, Case{"\xED\x9F\xBF", 0xD7FF, 3},
        Case{"\xEF\xBF\xBF", 0xFFFF, 3}, Case{"\xF0\x90\x80\x80", 0x10000, 4},
        Case{"\xF4\x8F\xBF\xBFtail", 0x10FFFF, 4}}) {
    const auto scalar = first_scalar(c.text);
    EXPECT_EQ(scalar.value, c.value);
    EXPECT_EQ(scalar.size, c.size);
  }
}

TEST(Utf8, IllFormedBytesHaveSizeZero) {
  for (const char* text : {"", "\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2x",
                           "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE2\x82", "\xF0\x8F\xBF\xBF",
                           "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xF0\x9F\x98"}) {
    EXPECT_EQ(first_scalar(text).size, 0) << testing::PrintToString(std::string(text));
  }
}

}  // namespace
}  // namespace smg
