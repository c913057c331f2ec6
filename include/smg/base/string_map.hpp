// A hash map keyed by std::string that is looked up with a std::string_view.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace smg {

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>{}(text);
  }
};

template <class V>
using StringMap = std::unordered_map<std::string, V, StringHash, std::equal_to<>>;

}  // namespace smg
