// The tenants of a node that two or more hold: sorted ids, each with its holding, in one block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "slab.hpp"
#include "smg/index/prefix_match.hpp"

namespace smg::index {

class TenantSet {
 public:
  std::uint32_t find(TenantId tenant) const;            // its holding, or kNil
  void insert(TenantId tenant, std::uint32_t holding);  // which is not a member
  void erase(TenantId tenant);                          // which is one

  std::uint32_t size() const { return size_; }
  std::span<const TenantId> tenants() const { return {ids(), size_}; }
  std::uint32_t holding_at(std::size_t position) const { return holdings()[position]; }
  std::size_t memory_bytes() const { return capacity_ * kMemberBytes; }

 private:
  static constexpr std::size_t kMemberBytes = sizeof(std::uint32_t) + sizeof(TenantId);

  // The holdings come first, then the ids: both are aligned.
  std::uint32_t* holdings() const { return reinterpret_cast<std::uint32_t*>(block_.get()); }
  TenantId* ids() const { return reinterpret_cast<TenantId*>(holdings() + capacity_); }
  std::uint32_t position_of(TenantId tenant) const;
  void resize(std::uint32_t capacity);

  std::unique_ptr<std::byte[]> block_;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
};

}  // namespace smg::index
