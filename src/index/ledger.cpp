#include "ledger.hpp"

#include <algorithm>

namespace smg::index {

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

std::uint32_t Ledger::open(TenantId tenant, std::uint32_t node, std::uint64_t units) {
  const std::uint32_t id = holdings_.emplace();
  Holding& holding = holdings_[id];
  holding.tenant = tenant;
  holding.node = node;
  holding.staler = kOut;
  accounts_[tenant].units += units;
  total_ += units;
  return id;
}

void Ledger::close(std::uint32_t id, std::uint64_t units) {
  step_out(id);
  accounts_[holdings_[id].owner()].units -= units;
  total_ -= units;
  holdings_.erase(id);
}

void Ledger::refresh(std::uint32_t id) {
  step_out(id);
  Holding& holding = holdings_[id];
  Account& account = accounts_[holding.owner()];
  holding.stamp = ++clock_ & 0xFFFF'FFFF'FFFF;
  holding.staler = account.freshest;
  holding.fresher = kNil;
  if (account.freshest != kNil) {
    holdings_[account.freshest].fresher = id;
  } else {
    account.stalest = id;
    note_stalest(holding.owner());
  }
  account.freshest = id;
}

void Ledger::step_out(std::uint32_t id) {
  Holding& holding = holdings_[id];
  if (!is_listed(holding)) return;
  Account& account = accounts_[holding.owner()];
  const std::uint32_t staler = holding.staler;
  const std::uint32_t fresher = holding.fresher;
  holding.staler = kOut;
  (fresher != kNil ? holdings_[fresher].staler : account.freshest) = staler;
  if (staler != kNil) {
    holdings_[staler].fresher = fresher;
  } else {
    account.stalest = fresher;
    note_stalest(holding.owner());
  }
}

void Ledger::expose(std::uint32_t id, std::uint64_t stamp) {
  Holding& holding = holdings_[id];
  if (is_listed(holding)) return;
  Account& account = accounts_[holding.owner()];
  holding.stamp = stamp & 0xFFFF'FFFF'FFFF;
  holding.staler = kNil;
  holding.fresher = account.stalest;
  (account.stalest != kNil ? holdings_[account.stalest].staler : account.freshest) = id;
  account.stalest = id;
  note_stalest(holding.owner());
}

void Ledger::note_stalest(TenantId tenant) {
  const std::uint32_t id = accounts_[tenant].stalest;
  stale_stamps_[tenant] = id != kNil ? std::uint64_t{holdings_[id].stamp} : kNever;
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
  holdings_.clear();
  accounts_.clear();
  stale_stamps_.clear();
  total_ = 0;
  enrolled_ = 0;
}

std::uint64_t Ledger::total(TenantId tenant) const {
  return tenant < accounts_.size() ? accounts_[tenant].units : 0;
}

std::size_t Ledger::memory_bytes() const {
  return holdings_.memory_bytes() + accounts_.size() * (sizeof(Account) + sizeof(std::uint64_t));
}

}  // namespace smg::index
