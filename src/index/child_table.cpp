#include "child_table.hpp"

#include <utility>

namespace smg::index {

void ChildTable::insert(std::uint32_t hash, std::uint32_t node) {
  const std::uint32_t capacity = slots_ ? mask_ + 1 : 0;
  const std::uint32_t room = capacity <= 4 ? capacity : capacity - capacity / 8;
  if (size_ == room) resize(capacity == 0 ? 2 : capacity * 2);
  place(hash, node);
  ++size_;
}

void ChildTable::erase(std::uint32_t hash, std::uint32_t node) {
  std::uint32_t hole = slot_of(hash, node);
  // Move back every later member of the run that may stand in the hole.
  const std::uint32_t gone = hole;
  for (std::uint32_t at = (hole + 1) & mask_; at != gone && slots_[at].node != kNil;
       at = (at + 1) & mask_) {
    const std::uint32_t home = slots_[at].hash & mask_;
    if (((at - home) & mask_) < ((at - hole) & mask_)) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = {};
  --size_;
  const std::uint32_t capacity = mask_ + 1;
  if (capacity > 16 && size_ < capacity / 8) resize(capacity / 4);
}

void ChildTable::replace(std::uint32_t hash, std::uint32_t node, std::uint32_t by) {
  slots_[slot_of(hash, node)].node = by;
}

std::uint32_t ChildTable::any() const {
  std::uint32_t at = 0;
  while (slots_[at].node == kNil) ++at;
  return slots_[at].node;
}

std::uint32_t ChildTable::slot_of(std::uint32_t hash, std::uint32_t node) const {
  std::uint32_t at = hash & mask_;
  while (slots_[at].node != node) at = (at + 1) & mask_;
  return at;
}

void ChildTable::place(std::uint32_t hash, std::uint32_t node) {
  std::uint32_t at = hash & mask_;
  while (slots_[at].node != kNil) at = (at + 1) & mask_;
  slots_[at] = {hash, node};
}

void ChildTable::resize(std::uint32_t capacity) {
  const std::unique_ptr<Slot[]> old = std::exchange(slots_, std::make_unique<Slot[]>(capacity));
  const std::uint32_t old_capacity = old ? mask_ + 1 : 0;
  mask_ = capacity - 1;
  for (std::uint32_t at = 0; at < old_capacity; ++at) {
    if (old[at].node != kNil) place(old[at].hash, old[at].node);
  }
}

}  // namespace smg::index
