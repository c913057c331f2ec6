// Random numbers for choosing workers: fast, of no cryptographic worth.
#pragma once

#include <cstdint>

namespace smg::policy {

// SplitMix64. Not thread-safe; see thread_random().
class RandomEngine {
 public:
  explicit RandomEngine(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() noexcept {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
    return mixed ^ (mixed >> 31);
  }

  // Uniform over [0, bound). `bound` >= 1; its bias of bound / 2^32 is beyond notice for workers.
  std::uint32_t below(std::uint32_t bound) noexcept {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }

 private:
  std::uint64_t state_;
};

// The calling thread's engine, seeded by the operating system. A test assigns one with a known
// seed.
RandomEngine& thread_random() noexcept;

}  // namespace smg::policy
