#include "ledger.hpp"

#include <algorithm>

namespace smg::index {
namespace {

constexpr std::uint64_t kStampMask = 0xFFFF'FFFF'FFFF;  // centuries of uses

}  // namespace

void Ledger::enroll(TenantId tenant) {
  if (tenant >= accounts_.size()) {
    accounts_.resize(tenant + std::size_t{1});
    stale_stamps_.resize(tenant + std::size_t{1}, kNever);
  }
  if (accounts_[tenant].enrolled) return;
  accounts_[tenant].enrolled = true;
  ++enrolled_;
}

void Ledger::dismiss(TenantId tenant) {
  if (tenant >= accounts_.size() || !accounts_[tenant].enrolled) return;
  accounts_[tenant].enrolled = false;
  --enrolled_;
}

void Ledger::book(TenantId tenant, std::uint64_t units) {
  accounts_[tenant].units += units;
  total_ += units;
}

void Ledger::unbook(TenantId tenant, std::uint64_t units) {
  accounts_[tenant].units -= units;
  total_ -= units;
}

std::uint32_t Ledger::make(TenantId tenant, std::uint32_t node, std::uint32_t children) {
  const std::uint32_t id = entries_.emplace();
  Entry& entry = entries_[id];
  entry.tenant_bits = tenant;
  entry.node = node;
  entry.children = children;
  return id;
}

std::uint32_t Ledger::list(TenantId tenant, std::uint32_t node, std::uint32_t children) {
  const std::uint32_t id = make(tenant, node, children);
  link_fresh(id);
  return id;
}

std::uint32_t Ledger::list_exposed(TenantId tenant, std::uint32_t node, std::uint64_t stamp) {
  const std::uint32_t id = make(tenant, node, 0);
  Account& account = accounts_[tenant];
  Entry& entry = entries_[id];
  entry.stamp = stamp & kStampMask;
  entry.fresher = account.stalest;
  (account.stalest != kNil ? entries_[account.stalest].staler : account.freshest) = id;
  account.stalest = id;
  note_stalest(tenant);
  return id;
}

void Ledger::refresh(std::uint32_t id) {
  unlink(id);
  link_fresh(id);
}

void Ledger::delist(std::uint32_t id) {
  unlink(id);
  entries_.erase(id);
}

void Ledger::link_fresh(std::uint32_t id) {
  Entry& entry = entries_[id];
  Account& account = accounts_[entry.tenant()];
  entry.stamp = ++clock_ & kStampMask;
  entry.staler = account.freshest;
  entry.fresher = kNil;
  if (account.freshest != kNil) entries_[account.freshest].fresher = id;
  account.freshest = id;
  if (entry.staler != kNil) return;
  account.stalest = id;
  note_stalest(entry.tenant());
}

void Ledger::unlink(std::uint32_t id) {
  const Entry& entry = entries_[id];
  Account& account = accounts_[entry.tenant()];
  (entry.fresher != kNil ? entries_[entry.fresher].staler : account.freshest) = entry.staler;
  if (entry.staler != kNil) {
    entries_[entry.staler].fresher = entry.fresher;
  } else {
    account.stalest = entry.fresher;
    note_stalest(entry.tenant());
  }
}

void Ledger::note_stalest(TenantId tenant) {
  const std::uint32_t id = accounts_[tenant].stalest;
  stale_stamps_[tenant] = id != kNil ? std::uint64_t{entries_[id].stamp} : kNever;
}

std::uint32_t Ledger::stalest(TenantId tenant) const {
  return tenant < accounts_.size() ? accounts_[tenant].stalest : kNil;
}

std::uint32_t Ledger::stalest() const {
  const auto least = std::min_element(stale_stamps_.begin(), stale_stamps_.end());
  if (least == stale_stamps_.end()) return kNil;
  return accounts_[static_cast<std::size_t>(least - stale_stamps_.begin())].stalest;
}

void Ledger::clear() {
  entries_.clear();
  accounts_.clear();
  stale_stamps_.clear();
  total_ = 0;
  enrolled_ = 0;
}

std::uint64_t Ledger::total(TenantId tenant) const {
  return tenant < accounts_.size() ? accounts_[tenant].units : 0;
}

std::size_t Ledger::memory_bytes() const {
  return entries_.memory_bytes() + accounts_.size() * (sizeof(Account) + sizeof(std::uint64_t));
}

}  // namespace smg::index
