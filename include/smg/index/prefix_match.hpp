// What both prefix trees report and how they are bounded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace smg::index {

// Dense id of a worker, the tenant of a tree. See smg/worker/worker.hpp.
using TenantId = std::uint16_t;
inline constexpr TenantId kNoTenant = 0xFFFF;

// A lookup reports at most this many tenants of the deepest matched node.
inline constexpr std::size_t kMaxReportedTenants = 8;

struct PrefixMatch {
  std::uint64_t matched =
      0;                     // leading units that the tree holds: scalars, or tokens in whole pages
  std::uint64_t length = 0;  // units of the request: scalars, or all its tokens
  std::array<TenantId, kMaxReportedTenants> tenants{};
  std::uint8_t tenant_count = 0;

  // Each of them holds the whole matched prefix. Empty when nothing matched.
  std::span<const TenantId> holders() const { return {tenants.data(), tenant_count}; }
};

}  // namespace smg::index
