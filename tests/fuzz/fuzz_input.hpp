// What the fuzz targets share: an input as text, and a check that also holds in release builds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace smg::fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return {};
  return {reinterpret_cast<const char*>(data), size};
}

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "violated: %s\n", what);
  std::abort();
}

// Whether `part` lies in `whole`, or is empty.
inline bool lies_in(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

}  // namespace smg::fuzz
