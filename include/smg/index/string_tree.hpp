// Multi-tenant radix tree over text: which workers were sent which prefixes.
//
// A unit is a Unicode scalar value. Input is valid UTF-8 (the JSON scanner guarantees it).
// Partial matches inside an edge count. The size of the tree is, for each tenant, the sum of the
// scalar counts of the nodes that list it: a prompt of 2,000 scalars that three workers hold counts
// 6,000. Very long text is stored as a chain of nodes, which leave one by one. Not thread-safe: one
// mutex per (model, kind) guards it, see policy/prefix_indexes.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "smg/index/prefix_match.hpp"

namespace smg::index {

class StringTree {
 public:
  StringTree();
  ~StringTree();
  StringTree(const StringTree&) = delete;
  StringTree& operator=(const StringTree&) = delete;

  // One descent: finds the longest prefix of `key` in the partition's root, calls
  // `choose(const PrefixMatch&) -> TenantId` once, and inserts `key` for the answer (kNoTenant:
  // nothing is inserted). Empty text only registers the tenant. `choose` must leave the tree alone.
  template <class Choose>
  PrefixMatch match_and_insert(std::string_view key, Choose&& choose, std::uint64_t partition = 0) {
    PrefixMatch match = descend(key, partition);
    const TenantId tenant = choose(static_cast<const PrefixMatch&>(match));
    if (tenant != kNoTenant) insert_from_cursor(key, tenant);
    return match;
  }

  // The longest prefix, without inserting and without touching last use.
  PrefixMatch match(std::string_view key, std::uint64_t partition = 0) const;

  // Removes every entry of one tenant, least recently used first. Touches only nodes that list it.
  void remove(TenantId tenant) {
    while (!remove_some(tenant, kRemovalSlice)) {
    }
  }
  // One slice of that: at most `max_steps` entries. Returns true when none is left; only then has
  // the tenant left tenant_count().
  bool remove_some(TenantId tenant, std::size_t max_steps);

  // One slice of eviction: drops least recently used (tenant, leaf) entries until size() is at
  // most `budget` or `max_steps` entries have gone. A leaf for a tenant is a node no child of
  // which lists it; the root is never one. Returns true when size() <= budget. A slice may end
  // early: one that returned false can have dropped fewer, but repeated calls get there.
  bool evict(std::uint64_t budget, std::size_t max_steps);

  void clear();

  std::uint64_t size() const;                 // scalars over all tenants
  std::uint64_t size(TenantId tenant) const;  // scalars of one
  std::size_t tenant_count() const;           // registered and not removed, also with 0 scalars
  std::size_t node_count() const;
  std::size_t memory_bytes() const;  // in use, for benchmarks and gauges

 private:
  static constexpr std::size_t kRemovalSlice = 1024;

  PrefixMatch descend(std::string_view key, std::uint64_t partition);
  void insert_from_cursor(std::string_view key, TenantId tenant);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace smg::index
