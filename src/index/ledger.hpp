// How much each tenant of a prefix tree holds, and in which order it goes.
//
// Each tenant has a list of entries from stale to fresh, in which every tenant-leaf stands (a node
// that the tenant holds, but none of its children). An inner node stands there only if a key ended
// at it; when the stale end of the list reaches it, it steps out and comes back when it has become
// a leaf. As a child is never staler than what is known of its parent, that keeps the order exact
// without touching a path's inner nodes. Eviction and a tenant's removal both take from the stale
// end. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "slab.hpp"
#include "smg/index/prefix_match.hpp"

namespace smg::index {

class Ledger {
 public:
  struct Entry {
    std::uint64_t stamp : 48 = 0;  // of the last use
    std::uint64_t tenant_bits : 16 = kNoTenant;
    std::uint32_t node = kNil;
    std::uint32_t children = 0;  // of the node's children, those that the tenant holds too
    std::uint32_t staler = kNil;
    std::uint32_t fresher = kNil;

    TenantId tenant() const { return static_cast<TenantId>(tenant_bits); }
  };

  void enroll(TenantId tenant);  // a tenant counts from here on, whatever it holds
  void dismiss(TenantId tenant);

  void book(TenantId tenant, std::uint64_t units);  // which is enrolled
  void unbook(TenantId tenant, std::uint64_t units);

  Entry& operator[](std::uint32_t id) { return entries_[id]; }
  // A new entry, used now, at the fresh end.
  std::uint32_t list(TenantId tenant, std::uint32_t node, std::uint32_t children);
  // A new entry of a leaf whose last child went: with the child's stamp, at the stale end.
  std::uint32_t list_exposed(TenantId tenant, std::uint32_t node, std::uint64_t stamp);
  void refresh(std::uint32_t id);  // used now: to the fresh end
  void delist(std::uint32_t id);

  // The stalest entry of a tenant, or of all; kNil if there is none.
  std::uint32_t stalest(TenantId tenant) const;
  std::uint32_t stalest() const;

  void clear();
  std::uint64_t total() const { return total_; }
  std::uint64_t total(TenantId tenant) const;
  std::size_t tenant_count() const { return enrolled_; }
  std::uint64_t uses() const { return clock_; }
  std::size_t memory_bytes() const;
  bool is_full_for(std::size_t count) const { return entries_.is_full_for(count); }

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  struct Account {
    std::uint64_t units = 0;
    std::uint32_t stalest = kNil;
    std::uint32_t freshest = kNil;
    bool enrolled = false;
  };

  std::uint32_t make(TenantId tenant, std::uint32_t node, std::uint32_t children);
  void link_fresh(std::uint32_t id);
  void unlink(std::uint32_t id);
  void note_stalest(TenantId tenant);

  Slab<Entry> entries_;
  std::vector<Account> accounts_;            // by tenant
  std::vector<std::uint64_t> stale_stamps_;  // of each list's stale end, apart: scanned as a whole
  std::uint64_t clock_ = 0;                  // uses so far
  std::uint64_t total_ = 0;
  std::size_t enrolled_ = 0;
};

}  // namespace smg::index
