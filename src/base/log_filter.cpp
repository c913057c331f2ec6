#include "smg/base/log_filter.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace smg::log {
namespace {

constexpr std::array<std::pair<std::string_view, Level>, 6> kLevels{{
    {"trace", Level::trace},
    {"debug", Level::debug},
    {"info", Level::info},
    {"warn", Level::warn},
    {"error", Level::error},
    {"off", Level::off},
}};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool equal_in_any_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool is_target_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    const char l = lower(c);
    return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == ':' || c == '-' ||
           c == '.';
  });
}

Error invalid(std::string detail) {
  return Error{.code = Errc::invalid_argument, .detail = std::move(detail)};
}

bool covers(std::string_view directive, std::string_view target) {
  if (!target.starts_with(directive)) return false;
  const std::string_view rest = target.substr(directive.size());
  return rest.empty() || rest.starts_with("::");
}

}  // namespace

Result<Level> parse_level(std::string_view text) {
  for (const auto& [name, level] : kLevels) {
    if (equal_in_any_case(name, text)) return level;
  }
  return invalid("\"" + std::string(text) +
                 "\" is not a log level: use trace, debug, info, warn, error or off");
}

Result<Filter> Filter::parse(std::string_view directives, Level fallback) {
  Filter filter(fallback);
  while (!directives.empty()) {
    const std::size_t comma = std::min(directives.find(','), directives.size());
    const std::string_view part = trimmed(directives.substr(0, comma));
    directives.remove_prefix(std::min(comma + 1, directives.size()));
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      const auto level = parse_level(part);
      if (!level) {
        return invalid("the log filter's part \"" + std::string(part) +
                       "\" is neither a level nor target=level");
      }
      filter.fallback_ = *level;
      continue;
    }
    const std::string_view target = trimmed(part.substr(0, equals));
    const auto level = parse_level(trimmed(part.substr(equals + 1)));
    if (!is_target_name(target) || !level) {
      return invalid("the log filter's part \"" + std::string(part) +
                     "\" is not target=level, as in smg::policies=debug");
    }
    filter.directives_.push_back({std::string(target), *level});
  }
  // Longest first, and of two for the same target the later one first.
  std::reverse(filter.directives_.begin(), filter.directives_.end());
  std::stable_sort(
      filter.directives_.begin(), filter.directives_.end(),
      [](const Directive& a, const Directive& b) { return a.target.size() > b.target.size(); });
  return filter;
}

Level Filter::level_of(std::string_view target) const {
  for (const Directive& directive : directives_) {
    if (covers(directive.target, target)) return directive.level;
  }
  return fallback_;
}

}  // namespace smg::log
