// The prefix cache of the simulated engine: whole blocks, least recently used ones go first, the
// end of a prompt before its beginning. Pure; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace smg::app {

// A prompt as an engine's cache sees it. Block i's hash covers everything up to its end, so equal
// hashes mean equal prefixes.
struct MockPrompt {
  std::uint64_t tokens = 0;
  std::vector<std::uint64_t> blocks;  // whole ones
};

inline constexpr std::size_t kBytesPerToken = 4;

// `salt` separates caches that must not share (cache salts, adapters).
MockPrompt prompt_of_text(std::string_view text, std::uint32_t block_size, std::string_view salt);
MockPrompt prompt_of_ids(std::span<const std::uint32_t> ids, std::uint32_t block_size,
                         std::string_view salt);

class MockCache {
 public:
  explicit MockCache(std::size_t capacity_blocks) : capacity_(capacity_blocks) {}

  // Leading blocks that are there. Touches nothing.
  std::size_t match(const MockPrompt& prompt) const;
  // Makes the prompt's blocks the most recently used ones, and room for them; of a prompt larger
  // than the cache, the beginning.
  void insert(const MockPrompt& prompt);
  void clear();
  std::size_t size() const { return where_.size(); }

 private:
  const std::size_t capacity_;
  std::list<std::uint64_t> recent_;  // most recently used first
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> where_;
};

}  // namespace smg::app
