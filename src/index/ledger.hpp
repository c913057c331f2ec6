// Who holds what in a prefix tree, how much that is, and in which order it goes.
//
// A holding is one (tenant, node) pair. Each tenant has a list of holdings from stale to fresh, in
// which every tenant-leaf stands (a holding none of whose node's children is held by the tenant).
// An inner holding stands there only if a key ended at its node; when the list's stale end
// reaches it, it steps out and comes back when it has become a leaf. As a child is never staler
// than what is known of its parent, that keeps the order exact without touching a path's inner
// nodes. Eviction and a tenant's removal both take from the stale end. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "slab.hpp"
#include "smg/index/prefix_match.hpp"

namespace smg::index {

struct Holding {
  std::uint64_t stamp : 48 = 0;  // of the last use
  std::uint64_t tenant : 16 = kNoTenant;
  std::uint32_t node = kNil;
  std::uint32_t children = 0;  // of the node's children, those that the tenant holds too
  std::uint32_t staler = 0;
  std::uint32_t fresher = 0;

  TenantId owner() const { return static_cast<TenantId>(tenant); }
};

class Ledger {
 public:
  Holding& operator[](std::uint32_t id) { return holdings_[id]; }
  const Holding& operator[](std::uint32_t id) const { return holdings_[id]; }
  void prefetch(std::uint32_t id) const { holdings_.prefetch(id); }

  void enroll(TenantId tenant);  // a tenant counts from here on, whatever it holds
  void dismiss(TenantId tenant);

  // Books `units` to the tenant. The holding is in no list yet.
  std::uint32_t open(TenantId tenant, std::uint32_t node, std::uint64_t units);
  // Unbooks them; takes the holding out of its list first.
  void close(std::uint32_t id, std::uint64_t units);

  void refresh(std::uint32_t id);  // used now: to the fresh end
  void step_out(std::uint32_t id);
  // The last child went, with its stamp: to the stale end, unless a later use of its own placed it.
  void expose(std::uint32_t id, std::uint64_t stamp);

  // The stalest listed holding of a tenant, or of all; kNil if there is none.
  std::uint32_t stalest(TenantId tenant) const;
  std::uint32_t stalest() const;

  void clear();
  std::uint64_t total() const { return total_; }
  std::uint64_t total(TenantId tenant) const;
  std::size_t tenant_count() const { return enrolled_; }
  std::uint64_t uses() const { return clock_; }
  std::size_t memory_bytes() const;
  bool is_full_for(std::size_t count) const { return holdings_.is_full_for(count); }

 private:
  static constexpr std::uint32_t kOut = 0xFFFFFFFE;  // `staler` of a holding in no list
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  struct Account {
    std::uint64_t units = 0;
    std::uint32_t stalest = kNil;
    std::uint32_t freshest = kNil;
    bool enrolled = false;
  };

  bool is_listed(const Holding& holding) const { return holding.staler != kOut; }
  void note_stalest(TenantId tenant);

  Slab<Holding> holdings_;
  std::vector<Account> accounts_;            // by tenant
  std::vector<std::uint64_t> stale_stamps_;  // of each list's stale end, apart: scanned as a whole
  std::uint64_t clock_ = 0;                  // uses so far
  std::uint64_t total_ = 0;
  std::size_t enrolled_ = 0;
};

}  // namespace smg::index
