// One command-line setting, declared once: what sets it, what refuses a value, what documents it.
//
// A table of flags is built over an options struct: the setters write to it, the default in the
// help text is the value it holds at that time. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smg::app {

struct Flag {
  enum class Takes : std::uint8_t { nothing, one, list };

  std::vector<std::string_view> names;  // with dashes; the first is the canonical one
  std::string_view help;
  Takes takes = Takes::one;
  std::string_view value_name;  // "" without one
  std::string range;            // "" when any value will do
  std::string default_text;
  // Takes the values and writes them. Returns what is wrong with them, one line each; nothing is
  // written then. Switches get "true" or "false".
  std::function<std::vector<std::string>(std::span<const std::string>)> set;
};

struct FlagGroup {
  std::string_view title;
  std::vector<Flag> flags;
};
using FlagTable = std::vector<FlagGroup>;

struct Names {
  std::vector<std::string_view> names;
  std::string_view help;
};

// Whole numbers, both ends included.
struct IntegerRange {
  std::uint64_t min = 0;
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
};
// Finite numbers.
struct RealRange {
  double min = 0;
  double max = std::numeric_limits<double>::infinity();  // infinity: no upper end
  bool above_min = false;                                // min itself is out of range
};

inline constexpr IntegerRange kPorts{1, 65535};
inline constexpr IntegerRange kAnyU32{0, std::numeric_limits<std::uint32_t>::max()};
inline constexpr IntegerRange kCount{1, std::numeric_limits<std::uint32_t>::max()};
// Seconds and milliseconds: what a steady_clock can add without overflow, with room to triple.
inline constexpr IntegerRange kDuration{1, 1'000'000'000};
inline constexpr IntegerRange kDurationOrZero{0, 1'000'000'000};

using WriteInteger = std::function<void(std::uint64_t)>;
Flag integer_flag(Names names, IntegerRange range, std::uint64_t current, WriteInteger write);

template <class Int>
Flag integer(Names names, IntegerRange range, Int& target) {
  return integer_flag(std::move(names), range, static_cast<std::uint64_t>(target),
                      [&target](std::uint64_t value) { target = static_cast<Int>(value); });
}
template <class Rep, class Period>
Flag duration(Names names, IntegerRange range, std::chrono::duration<Rep, Period>& target) {
  using Duration = std::chrono::duration<Rep, Period>;
  return integer_flag(
      std::move(names), range, static_cast<std::uint64_t>(target.count()),
      [&target](std::uint64_t value) { target = Duration(static_cast<Rep>(value)); });
}
Flag real(Names names, RealRange range, double& target);
Flag real(Names names, RealRange range, float& target);

// A switch that sets `target` to `value` when given, to its opposite when negated.
Flag toggle(Names names, bool& target);

Flag choice(Names names, std::vector<std::string_view> choices, std::string& target);

// Text that `check` accepts: it returns what is wrong, or "".
using CheckText = std::string (*)(std::string_view);
struct TextRule {
  std::string_view value_name;
  std::string_view range;
  CheckText check;
  bool secret = false;  // never repeated in a message
};
Flag text(Names names, const TextRule& rule, std::string& target);
Flag text_list(Names names, const TextRule& rule, std::vector<std::string>& target);

extern const TextRule kHost;        // a name or an address, brackets allowed
extern const TextRule kSecret;      // printable ASCII without blanks
extern const TextRule kUrlPath;     // "/health"
extern const TextRule kHeaderName;  // a token
extern const TextRule kFilePath;    // not empty

// A user's value in a message: one line, not too long.
std::string quoted_value(std::string_view value);

}  // namespace smg::app
