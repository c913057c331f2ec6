#include "radix_tree.hpp"

#include <algorithm>
#include <cstring>

namespace smg::index {
namespace {

constexpr std::size_t kPrefetch = 512;  // of an edge's text; the hardware follows from there

}  // namespace

RadixTree::RadixTree(Units units) : units_(units), text_(units.max_edge()) {
  main_root_ = nodes_.emplace();
}

PrefixMatch RadixTree::match(std::string_view key, std::uint64_t partition, Cursor& cursor) const {
  PrefixMatch match;
  cursor = {};
  cursor.partition = partition;
  if (partition == 0) {
    cursor.node = main_root_;
  } else if (const auto root = roots_.find(partition); root != roots_.end()) {
    cursor.node = root->second;
  }
  std::uint32_t likely = kNil;
  while (cursor.node != kNil && cursor.key_bytes < key.size()) {
    const Step next = step(nodes_[cursor.node], key.substr(cursor.key_bytes), likely);
    if (next.child == kNil) break;
    const Node& node = nodes_[next.child];
    const bool is_whole = next.bytes == node.bytes;
    match.matched += is_whole ? node.units : units_.count(key.substr(cursor.key_bytes, next.bytes));
    cursor.node = next.child;
    cursor.edge_bytes = static_cast<std::uint32_t>(next.bytes);
    cursor.key_bytes += next.bytes;
    if (!is_whole) break;
    likely = next.likely;
  }
  cursor.rest_units = units_.count(key.substr(cursor.key_bytes));
  match.length = match.matched + cursor.rest_units;
  if (match.matched > 0) report(nodes_[cursor.node], match);
  return match;
}

RadixTree::Step RadixTree::step(const Node& node, std::string_view rest,
                                std::uint32_t likely) const {
  Step next;
  const auto is_it = [&](std::uint32_t child) {
    next.bytes = compare(child, rest, next.likely);
    return next.bytes > 0;
  };
  if (likely != kNil && is_it(likely)) {
    next.child = likely;
  } else if (node.child_count > 1) {
    next.child = tables_[node.child].find(units_.first(rest), is_it);
  } else if (node.child_count == 1 && node.child != likely && is_it(node.child)) {
    next.child = node.child;
  }
  return next;
}

// Bytes of the child's edge that match. A tree does not fit into a cache, so the memory of the node
// that follows if all of it matches is asked for while the comparison waits for its own.
std::size_t RadixTree::compare(std::uint32_t child, std::string_view rest,
                               std::uint32_t& likely) const {
  const Node& node = nodes_[child];
  const std::string_view edge = text_of(node);
  likely = kNil;
  if (edge.size() < rest.size()) likely = likely_child(node, rest.substr(edge.size()));
  if (likely == kNil) return units_.common(edge, rest);
  const Node& next = nodes_[likely];
  text_.prefetch(next.text, kPrefetch);
  if (next.child_count == 1) nodes_.prefetch(next.child);
  return units_.common(edge, rest);
}

// The only child, or one of the right hash: most often the one that matches.
std::uint32_t RadixTree::likely_child(const Node& node, std::string_view rest) const {
  if (node.child_count < 2) return node.child;
  return tables_[node.child].find(units_.first(rest), [](std::uint32_t) { return true; });
}

void RadixTree::report(const Node& node, PrefixMatch& match) const {
  if (node.tenant_count == 1) {
    match.tenants[0] = node.tenant;
    match.tenant_count = 1;
    return;
  }
  const std::span<const TenantId> all = sets_[node.set].tenants();
  const std::size_t count = std::min(all.size(), kMaxReportedTenants);
  // Which eight of more is free; taking turns keeps the rest from being forgotten.
  const std::size_t start = all.size() > count ? ledger_.uses() % all.size() : 0;
  for (std::size_t i = 0; i < count; ++i) match.tenants[i] = all[(start + i) % all.size()];
  match.tenant_count = static_cast<std::uint8_t>(count);
}

void RadixTree::insert(std::string_view key, TenantId tenant, const Cursor& cursor) {
  std::string_view rest = key.substr(cursor.key_bytes);
  // A scalar has at most four bytes. What claims otherwise is not text, and would cost memory that
  // the budget does not see.
  if (key.empty() || rest.size() > 4 * cursor.rest_units || is_full_for(rest.size())) return;
  ledger_.enroll(tenant);

  std::uint32_t end = cursor.node != kNil ? cursor.node : root_of(cursor.partition);
  if (cursor.edge_bytes < nodes_[end].bytes) end = split(end, cursor.edge_bytes);
  std::uint64_t rest_units = cursor.rest_units;
  while (!rest.empty()) {
    const std::string_view edge = rest.substr(0, units_.edge_of(rest));
    const std::uint64_t units = edge.size() == rest.size() ? rest_units : units_.count(edge);
    end = add_leaf(end, edge, units);
    rest.remove_prefix(edge.size());
    rest_units -= units;
  }
  hold_path(end, tenant);
  if (dropped_bytes_ > 0) compact(dropped_bytes_ * 2);
}

bool RadixTree::is_full_for(std::size_t key_bytes) const {
  const std::size_t nodes = key_bytes / (units_.max_edge() / 2) + 4;
  return nodes_.is_full_for(nodes) || ledger_.is_full_for(nodes) ||
         text_.is_full_for(key_bytes + units_.max_edge());
}

std::uint32_t RadixTree::root_of(std::uint64_t partition) {
  const std::uint32_t root = nodes_.emplace();
  roots_.emplace(partition, root);
  partitions_.emplace(root, partition);
  return root;
}

// Puts a new node, which takes the first `bytes` of the edge, above `lower`. The lower node keeps
// its id: its children and holdings point at it.
std::uint32_t RadixTree::split(std::uint32_t lower, std::uint32_t bytes) {
  const std::uint32_t upper = nodes_.emplace();
  Node& above = nodes_[upper];
  Node& below = nodes_[lower];
  const std::string_view text = text_of(below);
  above.parent = below.parent;
  above.bytes = bytes;
  above.units = static_cast<std::uint32_t>(units_.count(text.substr(0, bytes)));
  above.text = below.text;
  above.child = lower;
  above.child_count = 1;
  replace_child(below.parent, lower, upper);

  below.parent = upper;
  below.text = text_.put(lower, text.data() + bytes, text.size() - bytes);
  text_.shorten(above.text, text.size(), bytes, upper);
  dropped_bytes_ += text.size() - bytes;
  below.bytes -= bytes;
  below.units -= above.units;

  // What the tenants hold is booked already.
  if (below.tenant_count == 1) {
    add_tenant(above, below.tenant, Mark::inner(1));
  } else {
    for (const TenantId tenant : sets_[below.set].tenants()) {
      add_tenant(above, tenant, Mark::inner(1));
    }
  }
  return upper;
}

std::uint32_t RadixTree::add_leaf(std::uint32_t parent, std::string_view text,
                                  std::uint64_t units) {
  const std::uint32_t leaf = nodes_.emplace();
  Node& node = nodes_[leaf];
  node.text = text_.put(leaf, text.data(), text.size());
  node.bytes = static_cast<std::uint32_t>(text.size());
  node.units = static_cast<std::uint32_t>(units);
  node.parent = parent;
  add_child(parent, leaf);
  return leaf;
}

// Lists the tenant on every node from `end` up that does not list it yet, and marks the end used.
void RadixTree::hold_path(std::uint32_t end, TenantId tenant) {
  for (std::uint32_t id = end; !is_root(id); id = nodes_[id].parent) {
    Node& node = nodes_[id];
    Mark* mark = mark_of(node, tenant);
    if (mark != nullptr) {
      id == end ? use(id, tenant, *mark) : gained_child(*mark);
      return;
    }
    ledger_.book(tenant, node.units);
    add_tenant(node, tenant,
               id == end ? Mark::listed(ledger_.list(tenant, id, 0)) : Mark::inner(1));
  }
}

void RadixTree::add_child(std::uint32_t parent, std::uint32_t child) {
  Node& node = nodes_[parent];
  if (node.child_count++ == 0) {
    node.child = child;
    return;
  }
  if (node.child_count == 2) {
    const std::uint32_t table = tables_.emplace();
    tables_[table].insert(units_.first(text_of(nodes_[node.child])), node.child);
    heap_bytes_ += tables_[table].memory_bytes();
    node.child = table;
  }
  ChildTable& table = tables_[node.child];
  heap_bytes_ -= table.memory_bytes();
  table.insert(units_.first(text_of(nodes_[child])), child);
  heap_bytes_ += table.memory_bytes();
}

void RadixTree::remove_child(std::uint32_t parent, std::uint32_t child) {
  Node& node = nodes_[parent];
  if (--node.child_count == 0) {
    node.child = kNil;
    return;
  }
  ChildTable& table = tables_[node.child];
  heap_bytes_ -= table.memory_bytes();
  table.erase(units_.first(text_of(nodes_[child])), child);
  if (node.child_count > 1) {
    heap_bytes_ += table.memory_bytes();
    return;
  }
  const std::uint32_t last = table.any();
  tables_.erase(node.child);
  node.child = last;
}

void RadixTree::replace_child(std::uint32_t parent, std::uint32_t child, std::uint32_t by) {
  Node& node = nodes_[parent];
  if (node.child_count == 1) {
    node.child = by;
  } else {
    tables_[node.child].replace(units_.first(text_of(nodes_[child])), child, by);
  }
}

std::size_t RadixTree::memory_bytes() const {
  constexpr std::size_t kMapEntry = 2 * (sizeof(std::uint64_t) * 2 + 3 * sizeof(void*));
  return nodes_.memory_bytes() + text_.memory_bytes() + tables_.memory_bytes() +
         sets_.memory_bytes() + ledger_.memory_bytes() + heap_bytes_ + roots_.size() * kMapEntry;
}

}  // namespace smg::index
