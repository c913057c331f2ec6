// The children of a node that has two or more: open addressing over (hash of the first unit, node).
//
// Different first units may share a hash, so find() asks its caller about each candidate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "slab.hpp"

namespace smg::index {

class ChildTable {
 public:
  // The first child with this hash for which `is_it(node)` holds; kNil if there is none.
  template <class IsIt>
  std::uint32_t find(std::uint32_t hash, IsIt is_it) const {
    for (std::uint32_t at = hash & mask_; slots_[at].node != kNil; at = (at + 1) & mask_) {
      if (slots_[at].hash == hash && is_it(slots_[at].node)) return slots_[at].node;
    }
    return kNil;
  }

  // Memory that changed is reported by memory_bytes() before and after.
  void insert(std::uint32_t hash, std::uint32_t node);
  void erase(std::uint32_t hash, std::uint32_t node);
  void replace(std::uint32_t hash, std::uint32_t node, std::uint32_t by);

  std::uint32_t size() const { return size_; }
  std::uint32_t any() const;  // of a table that is not empty
  std::size_t memory_bytes() const { return slots_ ? (mask_ + std::size_t{1}) * sizeof(Slot) : 0; }
  void prefetch(std::uint32_t hash) const { __builtin_prefetch(&slots_[hash & mask_]); }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t node = kNil;
  };

  std::uint32_t slot_of(std::uint32_t hash, std::uint32_t node) const;
  void place(std::uint32_t hash, std::uint32_t node);
  void resize(std::uint32_t capacity);

  std::unique_ptr<Slot[]> slots_;
  std::uint32_t mask_ = 0;
  std::uint32_t size_ = 0;
};

}  // namespace smg::index
