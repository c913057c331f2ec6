// Tenants of a node, and how their holdings leave the tree.

#include <algorithm>

#include "radix_tree.hpp"

namespace smg::index {

Mark* RadixTree::mark_of(Node& node, TenantId tenant) {
  if (node.tenant_count > 1) return sets_[node.set].find(tenant);
  return node.tenant_count == 1 && node.tenant == tenant ? &node.mark : nullptr;
}

void RadixTree::add_tenant(Node& node, TenantId tenant, Mark mark) {
  if (node.tenant_count++ == 0) {
    node.tenant = tenant;
    node.mark = mark;
    return;
  }
  if (node.tenant_count == 2) {
    const std::uint32_t set = sets_.emplace();
    sets_[set].insert(node.tenant, node.mark);
    heap_bytes_ += sets_[set].memory_bytes();
    node.set = set;
  }
  TenantSet& set = sets_[node.set];
  heap_bytes_ -= set.memory_bytes();
  set.insert(tenant, mark);
  heap_bytes_ += set.memory_bytes();
}

void RadixTree::remove_tenant(Node& node, TenantId tenant) {
  if (--node.tenant_count == 0) return;
  TenantSet& set = sets_[node.set];
  heap_bytes_ -= set.memory_bytes();
  set.erase(tenant);
  if (node.tenant_count > 1) {
    heap_bytes_ += set.memory_bytes();
    return;
  }
  const Mark last = set.mark_at(0);
  node.tenant = set.tenants()[0];
  sets_.erase(node.set);
  node.mark = last;
}

// A key now ends at the node.
void RadixTree::use(std::uint32_t node, TenantId tenant, Mark& mark) {
  if (mark.is_inner()) {
    mark = Mark::listed(ledger_.list(tenant, node, mark.children()));
  } else {
    ledger_.refresh(mark.entry());
  }
}

// The child is fresher, so the node need not stand in the list.
void RadixTree::gained_child(Mark& mark) {
  if (mark.is_inner()) {
    mark = Mark::inner(mark.children() + 1);
  } else {
    const std::uint32_t children = ledger_[mark.entry()].children + 1;
    ledger_.delist(mark.entry());
    mark = Mark::inner(children);
  }
}

void RadixTree::lost_child(std::uint32_t node, TenantId tenant, std::uint64_t stamp) {
  Mark& mark = *mark_of(nodes_[node], tenant);
  if (!mark.is_inner()) {
    --ledger_[mark.entry()].children;  // a later use of its own placed it
  } else if (mark.children() > 1) {
    mark = Mark::inner(mark.children() - 1);
  } else {
    mark = Mark::listed(ledger_.list_exposed(tenant, node, stamp));
  }
}

// Takes a tenant-leaf away; an inner node only steps out of the list. Whether it was a leaf.
bool RadixTree::take_or_pass(std::uint32_t id) {
  const Ledger::Entry entry = ledger_[id];
  ledger_.delist(id);
  Node& node = nodes_[entry.node];
  if (entry.children > 0) {
    *mark_of(node, entry.tenant()) = Mark::inner(entry.children);
    return false;
  }
  ledger_.unbook(entry.tenant(), node.units);
  remove_tenant(node, entry.tenant());
  if (!is_root(node.parent)) lost_child(node.parent, entry.tenant(), entry.stamp);
  if (node.tenant_count == 0) drop_node(entry.node);  // nobody holds it, so nobody holds a child
  return true;
}

void RadixTree::drop_node(std::uint32_t id) {
  const Node node = nodes_[id];
  remove_child(node.parent, id);
  text_.drop(node.text, node.bytes);
  dropped_bytes_ += node.bytes;
  nodes_.erase(id);
  if (node.parent == main_root_ || !is_root(node.parent) || nodes_[node.parent].child_count > 0) {
    return;
  }
  const auto partition = partitions_.find(node.parent);
  roots_.erase(partition->second);
  partitions_.erase(partition);
  nodes_.erase(node.parent);
}

bool RadixTree::evict(std::uint64_t budget, std::size_t max_steps) {
  // Passing an inner holding costs less than taking a leaf, but a slice must end.
  const std::size_t max_passes = 4 * max_steps;
  std::size_t taken = 0;
  std::size_t passed = 0;
  while (ledger_.total() > budget && taken < max_steps && passed < max_passes) {
    ++(take_or_pass(ledger_.stalest()) ? taken : passed);
  }
  compact(dropped_bytes_ * 2);
  return ledger_.total() <= budget;
}

bool RadixTree::remove(TenantId tenant, std::size_t max_steps) {
  for (std::size_t steps = 0; steps < max_steps; ++steps) {
    const std::uint32_t id = ledger_.stalest(tenant);
    if (id == kNil) break;
    take_or_pass(id);
  }
  compact(dropped_bytes_ * 2);
  if (ledger_.stalest(tenant) != kNil) return false;
  ledger_.dismiss(tenant);
  return true;
}

// Moving twice what was dropped keeps the log at about twice its live bytes.
void RadixTree::compact(std::size_t quota) {
  constexpr std::size_t kMaxQuota = 256 * 1024;  // of one slice
  dropped_bytes_ = 0;
  if (!text_.wants_compaction()) return;
  text_.compact(
      std::min(quota + 4096, kMaxQuota),
      [this](std::uint32_t owner) { return std::size_t{nodes_[owner].bytes}; },
      [this](std::uint32_t owner, std::uint32_t ref) { nodes_[owner].text = ref; });
}

void RadixTree::clear() {
  nodes_.clear();
  text_.clear();
  tables_.clear();
  sets_.clear();
  ledger_.clear();
  roots_.clear();
  partitions_.clear();
  heap_bytes_ = 0;
  dropped_bytes_ = 0;
  main_root_ = nodes_.emplace();
}

}  // namespace smg::index
