// The multi-tenant radix tree behind StringTree and TokenTree; their headers state what it does.
//
// A key is a byte string whose units `Units` knows. Each node has one edge's text and lists the
// tenants that hold it; a tenant that holds a node holds all nodes above it. Roots, one for each
// partition, have no text and list nobody. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "child_table.hpp"
#include "ledger.hpp"
#include "mark.hpp"
#include "slab.hpp"
#include "smg/index/prefix_match.hpp"
#include "tenant_set.hpp"
#include "text_log.hpp"
#include "units.hpp"

namespace smg::index {

class RadixTree {
 public:
  // Where a lookup ended. Valid until the tree changes.
  struct Cursor {
    std::uint64_t partition = 0;
    std::uint32_t node = kNil;     // deepest one reached; kNil: the partition has no root
    std::uint32_t edge_bytes = 0;  // how much of its edge matched
    std::size_t key_bytes = 0;     // how much of the key matched
    std::uint64_t rest_units = 0;  // what is left of the key
  };

  explicit RadixTree(Units units);

  PrefixMatch match(std::string_view key, std::uint64_t partition, Cursor& cursor) const;
  // `cursor` is that of match() for the same key.
  void insert(std::string_view key, TenantId tenant, const Cursor& cursor);
  void enroll(TenantId tenant) { ledger_.enroll(tenant); }

  bool evict(std::uint64_t budget, std::size_t max_steps);
  bool remove(TenantId tenant, std::size_t max_steps);
  void clear();

  const Ledger& ledger() const { return ledger_; }
  std::size_t node_count() const { return nodes_.size() - 1 - roots_.size(); }
  std::size_t memory_bytes() const;

 private:
  struct Node {
    std::uint32_t text = kNil;
    std::uint32_t bytes = 0;  // of the text
    std::uint32_t units = 0;
    std::uint32_t parent = kNil;
    std::uint32_t child = kNil;  // the only child, or the table of several
    std::uint32_t child_count = 0;
    union {
      Mark mark = {};     // of the only tenant
      std::uint32_t set;  // of several
    };
    TenantId tenant = kNoTenant;  // the only one
    std::uint16_t tenant_count = 0;
  };
  static_assert(sizeof(Node) == 32, "two nodes to a cache line");

  struct Step {
    std::uint32_t child = kNil;
    std::size_t bytes = 0;        // of the child's edge that match
    std::uint32_t likely = kNil;  // a guess at the child after it
  };

  bool is_root(std::uint32_t id) const { return nodes_[id].parent == kNil; }
  std::string_view text_of(const Node& node) const { return {text_.at(node.text), node.bytes}; }
  Step step(const Node& node, std::string_view rest, std::uint32_t likely) const;
  std::size_t compare(std::uint32_t child, std::string_view rest, std::uint32_t& likely) const;
  std::uint32_t likely_child(const Node& node, std::string_view rest) const;
  void report(const Node& node, PrefixMatch& match) const;

  std::uint32_t root_of(std::uint64_t partition);
  bool is_full_for(std::size_t key_bytes) const;
  std::uint32_t split(std::uint32_t lower, std::uint32_t bytes);
  std::uint32_t add_leaf(std::uint32_t parent, std::string_view text, std::uint64_t units);
  void hold_path(std::uint32_t end, TenantId tenant);
  void add_child(std::uint32_t parent, std::uint32_t child);
  void remove_child(std::uint32_t parent, std::uint32_t child);
  void replace_child(std::uint32_t parent, std::uint32_t child, std::uint32_t by);

  Mark* mark_of(Node& node, TenantId tenant);  // nullptr: does not hold it
  void add_tenant(Node& node, TenantId tenant, Mark mark);
  void remove_tenant(Node& node, TenantId tenant);
  void gained_child(Mark& mark);
  void lost_child(std::uint32_t node, TenantId tenant, std::uint64_t stamp);
  void use(std::uint32_t node, TenantId tenant, Mark& mark);

  bool take_or_pass(std::uint32_t entry);
  void drop_node(std::uint32_t id);
  void compact(std::size_t quota);

  Units units_;
  Slab<Node> nodes_;
  TextLog text_;
  Slab<ChildTable> tables_;
  Slab<TenantSet> sets_;
  Ledger ledger_;
  std::uint32_t main_root_ = kNil;                               // of partition 0, always there
  std::unordered_map<std::uint64_t, std::uint32_t> roots_;       // of the others, while not empty
  std::unordered_map<std::uint32_t, std::uint64_t> partitions_;  // the inverse
  std::size_t heap_bytes_ = 0;                                   // of tables and sets
  std::size_t dropped_bytes_ = 0;  // of text, not yet paid for by compaction
};

}  // namespace smg::index
