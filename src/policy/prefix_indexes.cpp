#include "smg/policy/prefix_indexes.hpp"

#include <algorithm>
#include <thread>

namespace smg::policy {
namespace {

// Locks the tree for one slice at a time, so that requests get their turn in between.
template <class Tree>
void remove_in_slices(Tree& tree, std::mutex& mutex, index::TenantId tenant) {
  for (;;) {
    {
      const std::lock_guard lock(mutex);
      if (tree.remove_some(tenant, kEvictionSlice)) return;
    }
    std::this_thread::yield();
  }
}

template <class Tree>
bool evict_one_slice(Tree& tree, std::mutex& mutex, std::uint64_t budget) {
  const std::lock_guard lock(mutex);
  return tree.evict(budget, kEvictionSlice);
}

}  // namespace

PrefixIndexes::PrefixIndexes(std::uint32_t block_size, std::uint64_t max_tree_size)
    : block_size_(std::max(block_size, 1U)), max_tree_size_(max_tree_size) {}

ModelIndex& PrefixIndexes::of(std::string_view model) {
  {
    const std::shared_lock lock(mutex_);
    const auto found = models_.find(model);
    if (found != models_.end()) return *found->second;
  }
  const std::unique_lock lock(mutex_);
  auto& slot = models_[std::string(model)];
  if (!slot) slot = std::make_unique<ModelIndex>(std::string(model), block_size_);
  return *slot;
}

void PrefixIndexes::remove(index::TenantId tenant) {
  for_each([&](ModelIndex& index) {
    remove_in_slices(index.strings, index.string_mutex, tenant);
    remove_in_slices(index.tokens, index.token_mutex, tenant);
  });
}

void PrefixIndexes::clear() {
  for_each([](ModelIndex& index) {
    {
      const std::lock_guard lock(index.string_mutex);
      index.strings.clear();
    }
    const std::lock_guard lock(index.token_mutex);
    index.tokens.clear();
  });
}

bool PrefixIndexes::evict_slice() {
  bool within = true;
  for_each([&](ModelIndex& index) {
    within &= evict_one_slice(index.strings, index.string_mutex, max_tree_size_);
    within &= evict_one_slice(index.tokens, index.token_mutex, max_tree_size_);
  });
  return within;
}

std::vector<IndexSize> PrefixIndexes::sizes() const {
  std::vector<IndexSize> sizes;
  for_each([&](ModelIndex& index) {
    IndexSize size;
    size.model = index.model;
    {
      const std::lock_guard lock(index.string_mutex);
      size.chars = index.strings.size();
      size.string_tenants = index.strings.tenant_count();
    }
    const std::lock_guard lock(index.token_mutex);
    size.tokens = index.tokens.size();
    size.token_tenants = index.tokens.tenant_count();
    sizes.push_back(std::move(size));
  });
  return sizes;
}

template <class Visit>
void PrefixIndexes::for_each(Visit visit) const {
  std::vector<ModelIndex*> all;
  {
    const std::shared_lock lock(mutex_);
    all.reserve(models_.size());
    for (const auto& entry : models_) all.push_back(entry.second.get());
  }
  for (ModelIndex* index : all) visit(*index);
}

}  // namespace smg::policy
