// The prefix trees of every model: one string tree and one token tree each, every one behind its
// own mutex. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smg/base/string_map.hpp"
#include "smg/index/string_tree.hpp"
#include "smg/index/token_tree.hpp"

namespace smg::policy {

// Entries that leave a tree under one lock, by eviction or removal: well below 200 us.
inline constexpr std::size_t kEvictionSlice = 64;

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

  // The model's trees, made on first use. The reference is valid as long as this object is. Ask
  // only for models of registered workers: trees are not given back.
  ModelIndex& of(std::string_view model);

  // From every tree, before it returns; each lock is held for one slice at a time.
  void remove(index::TenantId tenant);
  void clear();  // every tree of every model

  // One slice of eviction over all trees: at most `kEvictionSlice` entries under one lock at a
  // time. True when every tree is within budget. Called from the control thread, which yields
  // between slices.
  bool evict_slice();

  std::vector<IndexSize> sizes() const;

 private:
  // Visits without holding mutex_, so that a new model never waits for a long walk.
  template <class Visit>
  void for_each(Visit visit) const;

  const std::uint32_t block_size_;
  const std::uint64_t max_tree_size_;
  mutable std::shared_mutex mutex_;  // guards the map, not the trees
  StringMap<std::unique_ptr<ModelIndex>> models_;
};

}  // namespace smg::policy
