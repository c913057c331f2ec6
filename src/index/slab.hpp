// Objects of one type, addressed by 32-bit index, in chunks of 2048 that go back to the operating
// system when their last object is gone. An object never moves. The lowest chunk with room is
// filled first, so a shrinking slab empties from the top. Not thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "pages.hpp"

namespace smg::index {

inline constexpr std::uint32_t kNil = 0xFFFFFFFF;

template <class T>
class Slab {
 public:
  Slab() = default;
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;
  ~Slab() { clear(); }

  T& operator[](std::uint32_t index) { return bases_[index >> kShift][index & kMask]; }
  const T& operator[](std::uint32_t index) const { return bases_[index >> kShift][index & kMask]; }

  void prefetch(std::uint32_t index) const { __builtin_prefetch(&(*this)[index]); }

  std::uint32_t emplace() {
    const std::uint32_t id = chunk_with_room();
    Chunk& chunk = chunks_[id];
    std::uint32_t word = chunk.first_free_word;
    while (chunk.used[word] == ~std::uint64_t{0}) ++word;
    const auto bit = static_cast<std::uint32_t>(std::countr_one(chunk.used[word]));
    chunk.used[word] |= std::uint64_t{1} << bit;
    chunk.first_free_word = word;
    if (chunk.live++ == 0) --empty_;
    ++size_;
    const std::uint32_t slot = word * 64 + bit;
    allow_access(bases_[id] + slot, sizeof(T));
    std::construct_at(bases_[id] + slot);
    return (id << kShift) | slot;
  }

  void erase(std::uint32_t index) {
    const std::uint32_t id = index >> kShift;
    const std::uint32_t slot = index & kMask;
    Chunk& chunk = chunks_[id];
    std::destroy_at(bases_[id] + slot);
    forbid_access(bases_[id] + slot, sizeof(T));
    chunk.used[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    chunk.first_free_word = std::min(chunk.first_free_word, slot / 64);
    --size_;
    if (!std::exchange(chunk.queued, true)) with_room_.push(id);
    if (--chunk.live > 0) return;
    // One empty chunk stays, so that a slab at a chunk's edge does not map and unmap in turn.
    if (++empty_ > 1) release(id);
  }

  void clear() {
    for (std::uint32_t id = 0; id < chunks_.size(); ++id) {
      if (bases_[id] == nullptr) continue;
      for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
        if ((chunks_[id].used[slot / 64] >> (slot % 64) & 1) != 0) {
          std::destroy_at(bases_[id] + slot);
        }
      }
      allow_access(bases_[id], kChunkBytes);
      unmap_pages(reinterpret_cast<std::byte*>(bases_[id]), kChunkBytes);
    }
    bases_.clear();
    chunks_.clear();
    unmapped_.clear();
    with_room_ = {};
    size_ = 0;
    empty_ = 0;
  }

  std::size_t size() const { return size_; }
  std::size_t memory_bytes() const {
    return (chunks_.size() - unmapped_.size()) * kChunkBytes +
           chunks_.size() * (sizeof(Chunk) + sizeof(T*));
  }
  // No index is left for another `count` objects.
  bool is_full_for(std::size_t count) const { return size_ + count > (kNil >> 1); }

 private:
  static constexpr std::uint32_t kSlots = 2048;
  static constexpr std::size_t kChunkBytes = kSlots * sizeof(T);
  static_assert(kChunkBytes % 4096 == 0, "a chunk is whole pages");
  static constexpr std::uint32_t kShift = std::countr_zero(kSlots);
  static constexpr std::uint32_t kMask = kSlots - 1;

  struct Chunk {
    std::array<std::uint64_t, kSlots / 64> used{};
    std::uint32_t live = 0;
    std::uint32_t first_free_word = 0;
    bool queued = false;  // its id is in with_room_
  };

  std::uint32_t chunk_with_room() {
    while (!with_room_.empty()) {
      const std::uint32_t id = with_room_.top();
      if (bases_[id] != nullptr && chunks_[id].live < kSlots) return id;
      chunks_[id].queued = false;
      with_room_.pop();
    }
    std::uint32_t id = static_cast<std::uint32_t>(chunks_.size());
    if (!unmapped_.empty()) {
      id = unmapped_.back();
      unmapped_.pop_back();
    } else {
      bases_.push_back(nullptr);
      chunks_.emplace_back();
    }
    bases_[id] = reinterpret_cast<T*>(map_pages(kChunkBytes));
    forbid_access(bases_[id], kChunkBytes);
    chunks_[id].queued = true;
    with_room_.push(id);
    ++empty_;
    return id;
  }

  void release(std::uint32_t id) {
    allow_access(bases_[id], kChunkBytes);
    unmap_pages(reinterpret_cast<std::byte*>(bases_[id]), kChunkBytes);
    bases_[id] = nullptr;
    unmapped_.push_back(id);
    --empty_;
  }

  std::vector<T*> bases_;  // apart from chunks_: every access reads it
  std::vector<Chunk> chunks_;
  std::vector<std::uint32_t> unmapped_;  // ids of chunks that may be mapped again
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> with_room_;
  std::size_t size_ = 0;
  std::size_t empty_ = 0;  // mapped chunks without an object
};

}  // namespace smg::index
