// The children of a node that has two or more: open addressing over (hash of the first unit, node).
//
// Different first units may share a hash, so find() asks its caller about each candidate. A table
// of up to four slots may be full.
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
    for (std::uint32_t probe = 0; probe <= mask_; ++probe) {
      const Slot& slot = slots_[(hash + probe) & mask_];
      if (slot.node == kNil) break;
      if (slot.hash == hash && is_it(slot.node)) return slot.node;
    }
    return kNil;
  }

  void insert(std::uint32_t hash, std::uint32_t node);
  void erase(std::uint32_t hash, std::uint32_t node);
  void replace(std::uint32_t hash, std::uint32_t node, std::uint32_t by);

  std::uint32_t any() const;  // of a table that is not empty
  std::size_t memory_bytes() const { return slots_ ? (mask_ + std::size_t{1}) * sizeof(Slot) : 0; }

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
