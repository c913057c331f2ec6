#include "smg/app/flag.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "smg/protocol/http_head.hpp"

namespace smg::app {
namespace {

using Values = std::span<const std::string>;
using Problems = std::vector<std::string>;

std::string format_real(double value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, result.ptr};
}

std::string format_range(IntegerRange range) {
  return std::to_string(range.min) + ".." + std::to_string(range.max);
}

std::string format_range(RealRange range) {
  if (std::isfinite(range.max)) return format_real(range.min) + ".." + format_real(range.max);
  return (range.above_min ? "more than " : "at least ") + format_real(range.min);
}

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string check_integer(const std::string& value, IntegerRange range, std::uint64_t& out) {
  const bool negative = value.starts_with('-');
  if (!all_digits(std::string_view(value).substr(negative ? 1 : 0))) {
    return quoted_value(value) + " is not a whole number (" + format_range(range) + ")";
  }
  const char* end = value.data() + value.size();
  const auto result = std::from_chars(value.data(), end, out);
  if (negative || result.ec != std::errc{} || out < range.min || out > range.max) {
    return quoted_value(value) + " is out of range (" + format_range(range) + ")";
  }
  return {};
}

std::string check_real(const std::string& value, RealRange range, double& out) {
  const char* end = value.data() + value.size();
  const auto result = std::from_chars(value.data(), end, out);
  const bool overflow = result.ec == std::errc::result_out_of_range;
  if (result.ptr != end || (result.ec != std::errc{} && !overflow)) {
    return quoted_value(value) + " is not a number (" + format_range(range) + ")";
  }
  if (overflow || !std::isfinite(out)) {
    return quoted_value(value) + " is not a finite number (" + format_range(range) + ")";
  }
  if (out < range.min || out > range.max || (range.above_min && out == range.min)) {
    return quoted_value(value) + " is out of range (" + format_range(range) + ")";
  }
  return {};
}

Flag flag_of(Names names, Flag::Takes takes, std::string_view value_name, std::string range) {
  return {.names = std::move(names.names),
          .help = names.help,
          .takes = takes,
          .value_name = value_name,
          .range = std::move(range),
          .default_text = {},
          .set = {}};
}

std::string check_text(const TextRule& rule, const std::string& value) {
  std::string reason = rule.check(value);
  if (reason.empty() || rule.secret) return reason;
  return quoted_value(value) + " " + reason;
}

template <class Real>
Flag real_flag(Names names, RealRange range, Real& target) {
  Flag flag = flag_of(std::move(names), Flag::Takes::one, "X", format_range(range));
  // A float is shown as the float it is (0.3), not as the double next to it.
  char buffer[32];
  flag.default_text.assign(buffer, std::to_chars(buffer, buffer + sizeof buffer, target).ptr);
  flag.set = [range, &target](Values values) -> Problems {
    double number = 0;
    std::string problem = check_real(values.back(), range, number);
    if (!problem.empty()) return {std::move(problem)};
    target = static_cast<Real>(number);
    return {};
  };
  return flag;
}

std::string check_host(std::string_view value) {
  std::string_view host = value;
  if (host.starts_with('[') != host.ends_with(']')) return "has only one bracket";
  if (host.starts_with('[')) {
    host = host.substr(1, host.size() - 2);
    if (host.find(':') == std::string_view::npos) return "has brackets but is not an IPv6 address";
  }
  if (host.empty()) return "is empty";
  if (host.size() > 255) return "is too long";
  const bool address = host.find(':') != std::string_view::npos;
  for (const char c : host) {
    const bool alphanumeric =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (alphanumeric || c == '.' || c == '-' || c == '_') continue;
    if (address && (c == ':' || c == '%')) continue;
    return "is neither a host name nor an address";
  }
  return {};
}

std::string check_secret(std::string_view value) {
  const bool ok = !value.empty() && std::all_of(value.begin(), value.end(),
                                                [](char c) { return c > 0x20 && c < 0x7F; });
  return ok ? "" : "the key must be printable ASCII without blanks";
}

std::string check_url_path(std::string_view value) {
  if (!value.starts_with('/')) return "does not begin with /";
  const bool ok = std::all_of(value.begin(), value.end(),
                              [](char c) { return c > 0x20 && c < 0x7F && c != '#'; });
  return ok ? "" : "has characters that a path cannot have";
}

std::string check_header_name(std::string_view value) {
  return protocol::is_token(value) ? "" : "is not a header name";
}

std::string check_file_path(std::string_view value) { return value.empty() ? "is empty" : ""; }

}  // namespace

const TextRule kHost{"HOST", "a name or an address", check_host};
const TextRule kSecret{"KEY", "printable ASCII without blanks", check_secret, true};
const TextRule kUrlPath{"PATH", "begins with /", check_url_path};
const TextRule kHeaderName{"NAME", "header names", check_header_name};
const TextRule kFilePath{"PATH", "", check_file_path};

std::string quoted_value(std::string_view value) {
  constexpr std::size_t kMost = 100;
  std::string shown(value.substr(0, kMost));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  if (value.size() > kMost) shown += "...";
  return shown.empty() ? "\"\"" : shown;
}

Flag integer_flag(Names names, IntegerRange range, std::uint64_t current, WriteInteger write) {
  Flag flag = flag_of(std::move(names), Flag::Takes::one, "N", format_range(range));
  flag.default_text = std::to_string(current);
  flag.set = [range, write = std::move(write)](Values values) -> Problems {
    std::uint64_t number = 0;
    std::string problem = check_integer(values.back(), range, number);
    if (!problem.empty()) return {std::move(problem)};
    write(number);
    return {};
  };
  return flag;
}

Flag real(Names names, RealRange range, double& target) {
  return real_flag(std::move(names), range, target);
}
Flag real(Names names, RealRange range, float& target) {
  return real_flag(std::move(names), range, target);
}

Flag toggle(Names names, bool& target) {
  Flag flag = flag_of(std::move(names), Flag::Takes::nothing, "", "");
  flag.default_text = target ? "on" : "off";
  flag.set = [&target](Values values) -> Problems {
    std::string value = values.back();
    for (char& c : value) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    const bool on = value == "true" || value == "1" || value == "on" || value == "yes";
    const bool off = value == "false" || value == "0" || value == "off" || value == "no";
    if (!on && !off) return {quoted_value(values.back()) + " is not one of true, false"};
    target = on;
    return {};
  };
  return flag;
}

Flag choice(Names names, std::vector<std::string_view> choices, std::string& target) {
  std::string list;
  for (const auto name : choices) list.append(list.empty() ? "" : ", ").append(name);
  Flag flag = flag_of(std::move(names), Flag::Takes::one, "NAME", list);
  flag.default_text = target;
  flag.set = [choices = std::move(choices), list, &target](Values values) -> Problems {
    const std::string& value = values.back();
    if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
      return {quoted_value(value) + " is not one of " + list};
    }
    target = value;
    return {};
  };
  return flag;
}

Flag text(Names names, const TextRule& rule, std::string& target) {
  Flag flag = flag_of(std::move(names), Flag::Takes::one, rule.value_name, std::string(rule.range));
  flag.default_text = target;
  flag.set = [rule, &target](Values values) -> Problems {
    std::string problem = check_text(rule, values.back());
    if (!problem.empty()) return {std::move(problem)};
    target = values.back();
    return {};
  };
  return flag;
}

Flag text_list(Names names, const TextRule& rule, std::vector<std::string>& target) {
  Flag flag =
      flag_of(std::move(names), Flag::Takes::list, rule.value_name, std::string(rule.range));
  for (const auto& item : target)
    flag.default_text.append(flag.default_text.empty() ? "" : " ").append(item);
  flag.set = [rule, &target](Values values) -> Problems {
    Problems problems;
    for (const auto& value : values) {
      std::string problem = check_text(rule, value);
      if (!problem.empty()) problems.push_back(std::move(problem));
    }
    if (problems.empty()) target.assign(values.begin(), values.end());
    return problems;
  };
  return flag;
}

}  // namespace smg::app
