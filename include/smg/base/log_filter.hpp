// Which level a target logs at: an immutable list of directives. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "smg/base/error.hpp"
#include "smg/base/log.hpp"

namespace smg::log {

class Filter {
 public:
  // `fallback` for every target.
  explicit Filter(Level fallback) : fallback_(fallback) {}

  // Comma-separated directives: `level` (for targets that no other names; the last one counts) or
  // `target=level`. Blanks around directives and empty directives are ignored. Fails on anything
  // else, naming the directive.
  static Result<Filter> parse(std::string_view directives, Level fallback);

  // The longest directive that is the target or an ancestor of it: `smg::policies` covers
  // `smg::policies::cache_aware`, not `smg::policies_old`.
  Level level_of(std::string_view target) const;

 private:
  struct Directive {
    std::string target;
    Level level;
  };

  std::vector<Directive> directives_;
  Level fallback_;
};

}  // namespace smg::log
