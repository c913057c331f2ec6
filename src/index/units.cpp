#include "units.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

namespace smg::index {
namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080;

std::uint64_t load64(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

// Equal leading bytes of a and b, at most n.
std::size_t equal_bytes(const char* a, const char* b, std::size_t n) {
  constexpr std::size_t kBlock = 256;  // memcmp has the widest registers; it does not say where
  std::size_t at = 0;
  while (at + kBlock <= n && std::memcmp(a + at, b + at, kBlock) == 0) at += kBlock;
  for (; at + 8 <= n; at += 8) {
    const std::uint64_t diff = load64(a + at) ^ load64(b + at);
    if (diff == 0) continue;
    const int bit = std::endian::native == std::endian::little ? std::countr_zero(diff)
                                                               : std::countl_zero(diff);
    return at + static_cast<std::size_t>(bit) / 8;
  }
  while (at < n && a[at] == b[at]) ++at;
  return at;
}

std::size_t count_scalars(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  std::size_t continuations = 0;
  for (; end - at >= 32; at += 32) {
    const std::uint64_t words[4] = {load64(at), load64(at + 8), load64(at + 16), load64(at + 24)};
    if (((words[0] | words[1] | words[2] | words[3]) & kHighBits) == 0) continue;
    for (const std::uint64_t word : words) {
      continuations += static_cast<std::size_t>(std::popcount(word & (~word << 1) & kHighBits));
    }
  }
  for (; at != end; ++at) continuations += is_continuation(*at) ? 1 : 0;
  return text.size() - continuations;
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::size_t first_scalar_bytes(std::string_view text) {
  std::size_t bytes = 1;
  while (bytes < text.size() && is_continuation(text[bytes])) ++bytes;
  return bytes;
}

}  // namespace

Units::Units(std::size_t page_bytes) : page_bytes_(page_bytes) {
  std::random_device device;
  seed_ = (static_cast<std::uint64_t>(device()) << 32) | device();
}

std::size_t Units::common(std::string_view edge, std::string_view key) const {
  std::size_t n = equal_bytes(edge.data(), key.data(), std::min(edge.size(), key.size()));
  if (page_bytes_ != 0) return n - n % page_bytes_;
  const auto inside_scalar = [](std::string_view text, std::size_t at) {
    return at < text.size() && is_continuation(text[at]);
  };
  while (n > 0 && (inside_scalar(edge, n) || inside_scalar(key, n))) --n;
  return n;
}

std::uint64_t Units::count(std::string_view text) const {
  return page_bytes_ != 0 ? text.size() / sizeof(std::uint32_t) : count_scalars(text);
}

std::uint32_t Units::first(std::string_view text) const {
  const std::size_t bytes = page_bytes_ != 0 ? page_bytes_ : first_scalar_bytes(text);
  std::uint64_t hash = seed_;
  std::size_t at = 0;
  for (; at + 8 <= bytes; at += 8) {
    hash = mix(hash ^ load64(text.data() + at), 0x9E3779B97F4A7C15);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, text.data() + at, bytes - at);
  hash = mix(hash ^ rest, 0xD6E8FEB86659FD93);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

std::size_t Units::edge_of(std::string_view text) const {
  if (text.size() <= max_edge()) return text.size();
  std::size_t bytes = max_edge();
  if (page_bytes_ != 0) return bytes - bytes % page_bytes_;
  while (bytes > 1 && is_continuation(text[bytes])) --bytes;
  return bytes > 1 ? bytes : max_edge();
}

}  // namespace smg::index
