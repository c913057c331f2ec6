#include "smg/app/mock_cache.hpp"

#include <algorithm>

namespace smg::app {
namespace {

constexpr std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 30U;
  value *= 0xBF58476D1CE4E5B9ULL;
  value ^= value >> 27U;
  value *= 0x94D049BB133111EBULL;
  return value ^ (value >> 31U);
}

std::uint64_t hash_bytes(std::uint64_t seed, std::string_view bytes) {
  std::uint64_t hash = seed ^ 0x9E3779B97F4A7C15ULL;
  for (const char c : bytes) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  }
  return mix(hash + bytes.size());
}

}  // namespace

MockPrompt prompt_of_text(std::string_view text, std::uint32_t block_size, std::string_view salt) {
  MockPrompt prompt;
  prompt.tokens = (text.size() + kBytesPerToken - 1) / kBytesPerToken;
  const std::size_t step = block_size * kBytesPerToken;
  std::uint64_t hash = hash_bytes(1, salt);
  for (std::size_t at = 0; at + step <= text.size(); at += step) {
    hash = hash_bytes(hash, text.substr(at, step));
    prompt.blocks.push_back(hash);
  }
  return prompt;
}

MockPrompt prompt_of_ids(std::span<const std::uint32_t> ids, std::uint32_t block_size,
                         std::string_view salt) {
  MockPrompt prompt;
  prompt.tokens = ids.size();
  std::uint64_t hash = hash_bytes(2, salt);
  for (std::size_t at = 0; at + block_size <= ids.size(); at += block_size) {
    for (const std::uint32_t id : ids.subspan(at, block_size)) hash = mix(hash * 31 + id + 1);
    prompt.blocks.push_back(hash);
  }
  return prompt;
}

std::size_t MockCache::match(const MockPrompt& prompt) const {
  const auto missing =
      std::find_if(prompt.blocks.begin(), prompt.blocks.end(),
                   [this](std::uint64_t block) { return !where_.contains(block); });
  return static_cast<std::size_t>(missing - prompt.blocks.begin());
}

void MockCache::insert(const MockPrompt& prompt) {
  // From the end, so that the beginning is the last to go.
  for (std::size_t i = std::min(prompt.blocks.size(), capacity_); i-- > 0;) {
    const std::uint64_t block = prompt.blocks[i];
    const auto found = where_.find(block);
    if (found != where_.end()) {
      recent_.splice(recent_.begin(), recent_, found->second);
      continue;
    }
    if (where_.size() == capacity_) {
      where_.erase(recent_.back());
      recent_.pop_back();
    }
    recent_.push_front(block);
    where_.emplace(block, recent_.begin());
  }
}

void MockCache::clear() {
  recent_.clear();
  where_.clear();
}

}  // namespace smg::app
