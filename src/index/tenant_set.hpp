// The tenants of a node that two or more hold: sorted ids, each with its mark, in one block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "mark.hpp"
#include "smg/index/prefix_match.hpp"

namespace smg::index {

class TenantSet {
 public:
  Mark* find(TenantId tenant) const;        // nullptr: not a member
  void insert(TenantId tenant, Mark mark);  // which is not a member
  void erase(TenantId tenant);              // which is one

  std::uint32_t size() const { return size_; }
  std::span<const TenantId> tenants() const { return {ids(), size_}; }
  Mark mark_at(std::size_t position) const { return marks()[position]; }
  std::size_t memory_bytes() const { return capacity_ * kMemberBytes; }

 private:
  static constexpr std::size_t kMemberBytes = sizeof(Mark) + sizeof(TenantId);

  // The marks come first, then the ids: both are aligned.
  Mark* marks() const { return reinterpret_cast<Mark*>(block_.get()); }
  TenantId* ids() const { return reinterpret_cast<TenantId*>(marks() + capacity_); }
  std::uint32_t position_of(TenantId tenant) const;
  void resize(std::uint32_t capacity);

  std::unique_ptr<std::byte[]> block_;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
};

}  // namespace smg::index
