// Multi-tenant radix tree over token ids, in whole pages.
//
// The input is aligned down to a multiple of the page size before anything else; under one page
// nothing is inserted and nothing matches, but `choose` is still called. PrefixMatch::length is the
// unaligned token count. A key under one page registers no tenant. Sizes count tokens as
// string_tree.hpp counts scalars, and the members mean what they mean there. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "smg/index/prefix_match.hpp"

namespace smg::index {

class TokenTree {
 public:
  // `page_size` >= 1: tokens that an engine reuses together (--block-size).
  explicit TokenTree(std::uint32_t page_size);
  ~TokenTree();
  TokenTree(const TokenTree&) = delete;
  TokenTree& operator=(const TokenTree&) = delete;

  template <class Choose>
  PrefixMatch match_and_insert(std::span<const std::uint32_t> key, Choose&& choose,
                               std::uint64_t partition = 0) {
    PrefixMatch match = descend(key, partition);
    const TenantId tenant = choose(static_cast<const PrefixMatch&>(match));
    if (tenant != kNoTenant) insert_from_cursor(key, tenant);
    return match;
  }

  PrefixMatch match(std::span<const std::uint32_t> key, std::uint64_t partition = 0) const;
  void remove(TenantId tenant) {
    while (!remove_some(tenant, kRemovalSlice)) {
    }
  }
  bool remove_some(TenantId tenant, std::size_t max_steps);
  bool evict(std::uint64_t budget, std::size_t max_steps);
  void clear();

  std::uint64_t size() const;
  std::uint64_t size(TenantId tenant) const;
  std::size_t tenant_count() const;
  std::size_t node_count() const;
  std::size_t memory_bytes() const;

 private:
  static constexpr std::size_t kRemovalSlice = 1024;

  PrefixMatch descend(std::span<const std::uint32_t> key, std::uint64_t partition);
  void insert_from_cursor(std::span<const std::uint32_t> key, TenantId tenant);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace smg::index
