#include "tenant_set.hpp"

#include <algorithm>
#include <utility>

namespace smg::index {

Mark* TenantSet::find(TenantId tenant) const {
  const std::uint32_t at = position_of(tenant);
  return at < size_ && ids()[at] == tenant ? marks() + at : nullptr;
}

void TenantSet::insert(TenantId tenant, Mark mark) {
  if (size_ == capacity_) resize(std::max(2U, capacity_ + (capacity_ + 1) / 2));
  const std::uint32_t at = position_of(tenant);
  std::copy_backward(ids() + at, ids() + size_, ids() + size_ + 1);
  std::copy_backward(marks() + at, marks() + size_, marks() + size_ + 1);
  ids()[at] = tenant;
  marks()[at] = mark;
  ++size_;
}

void TenantSet::erase(TenantId tenant) {
  const std::uint32_t at = position_of(tenant);
  std::copy(ids() + at + 1, ids() + size_, ids() + at);
  std::copy(marks() + at + 1, marks() + size_, marks() + at);
  --size_;
  if (capacity_ > 8 && size_ < capacity_ / 4) resize(capacity_ / 2);
}

std::uint32_t TenantSet::position_of(TenantId tenant) const {
  return static_cast<std::uint32_t>(std::lower_bound(ids(), ids() + size_, tenant) - ids());
}

void TenantSet::resize(std::uint32_t capacity) {
  TenantSet bigger;
  bigger.block_ = std::make_unique<std::byte[]>(capacity * kMemberBytes);
  bigger.capacity_ = capacity;
  bigger.size_ = size_;
  std::copy(ids(), ids() + size_, bigger.ids());
  std::copy(marks(), marks() + size_, bigger.marks());
  *this = std::move(bigger);
}

}  // namespace smg::index
