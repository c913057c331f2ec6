// The prefix trees of every model: one string tree and one token tree each, every one behind its own
// mutex. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "smg/base/string_map.hpp"
#include "smg/index/string_tree.hpp"
#include "smg/index/token_tree.hpp"

namespace smg::policy {

struct ModelIndex {
  explicit ModelIndex(std::string model_id, std::uint32_t block_size)
      : model(std::move(model_id)), tokens(block_size) {}
  const std::string model;
  std::mutex string_mutex;
  index::StringTree strings;
  std::mutex token_mutex;
  index::TokenTree tokens;
};

struct IndexSize {
  std::string model;
  std::uint64_t chars = 0;
  std::uint64_t tokens = 0;
  std::size_t string_tenants = 0;
  std::size_t token_tenants = 0;
};

class PrefixIndexes {
 public:
  // `block_size` >= 1 tokens; `max_tree_size` >= 1 units per tree.
  PrefixIndexes(std::uint32_t block_size, std::uint64_t max_tree_size);

  // The model's trees, made on first use. Lives until clear() of the whole object is destroyed.
  ModelIndex& of(std::string_view model);

  void remove(index::TenantId tenant);  // from every tree, now
  void clear();                         // every tree of every model

  // One slice of eviction over all trees: at most `kEvictionSlice` entries under one lock at a
  // time. True when every tree is within budget. Called from the control thread, which yields
  // between slices.
  bool evict_slice();

  std::vector<IndexSize> sizes() const;

 private:
  const std::uint32_t block_size_;
  const std::uint64_t max_tree_size_;
  mutable std::shared_mutex mutex_;  // guards the map, not the trees
  StringMap<std::unique_ptr<ModelIndex>> models_;
};

}  // namespace smg::policy
