// What a prefix tree counts in: Unicode scalars of UTF-8 text, or whole pages of token ids.
//
// Both key types are byte strings to the tree; this is the only place where they differ. Text that
// is not valid UTF-8 is safe: a unit is then a byte with the continuation bytes that follow it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace smg::index {

class Units {
 public:
  static Units scalars() { return Units(0); }
  // 1 <= tokens <= kMaxPage
  static Units pages(std::uint32_t tokens) { return Units(tokens * sizeof(std::uint32_t)); }
  static constexpr std::uint32_t kMaxPage = 1U << 24;

  // Length of the longest common prefix in whole units, in bytes.
  std::size_t common(std::string_view edge, std::string_view key) const;
  // Scalars, or tokens.
  std::uint64_t count(std::string_view text) const;
  // A hash of the first unit; equal units have equal hashes. `text` holds at least one.
  std::uint32_t first(std::string_view text) const;
  // How much of `text` one edge takes: whole units, at least one, at most max_edge() bytes.
  std::size_t edge_of(std::string_view text) const;
  std::size_t max_edge() const { return page_bytes_ > kEdgeBytes ? page_bytes_ : kEdgeBytes; }

 private:
  // Longer text becomes a chain of edges, so that a split copies little.
  static constexpr std::size_t kEdgeBytes = 32 * 1024;

  explicit Units(std::size_t page_bytes);

  std::size_t page_bytes_;  // 0: scalars
  std::uint64_t seed_;      // of first(): who chooses the text must not choose the hash
};

}  // namespace smg::index
