#include "smg/index/token_tree.hpp"

#include <algorithm>
#include <string_view>

#include "radix_tree.hpp"

namespace smg::index {

struct TokenTree::Impl {
  explicit Impl(std::uint32_t page_size)
      : page(std::clamp(page_size, std::uint32_t{1}, Units::kMaxPage)) {}

  // The whole pages of a key, as the tree's bytes.
  std::string_view pages_of(std::span<const std::uint32_t> key) const {
    const std::span<const std::uint32_t> whole = key.first(key.size() - key.size() % page);
    return {reinterpret_cast<const char*>(whole.data()), whole.size_bytes()};
  }

  PrefixMatch match(std::span<const std::uint32_t> key, std::uint64_t partition,
                    RadixTree::Cursor& at) const {
    PrefixMatch match = tree.match(pages_of(key), partition, at);
    match.length = key.size();
    return match;
  }

  const std::uint32_t page;
  RadixTree tree{Units::pages(page)};
  RadixTree::Cursor cursor;  // of the last descend()
};

TokenTree::TokenTree(std::uint32_t page_size) : impl_(std::make_unique<Impl>(page_size)) {}
TokenTree::~TokenTree() = default;

PrefixMatch TokenTree::descend(std::span<const std::uint32_t> key, std::uint64_t partition) {
  return impl_->match(key, partition, impl_->cursor);
}

void TokenTree::insert_from_cursor(std::span<const std::uint32_t> key, TenantId tenant) {
  impl_->tree.insert(impl_->pages_of(key), tenant, impl_->cursor);
}

PrefixMatch TokenTree::match(std::span<const std::uint32_t> key, std::uint64_t partition) const {
  RadixTree::Cursor cursor;
  return impl_->match(key, partition, cursor);
}

bool TokenTree::remove_some(TenantId tenant, std::size_t max_steps) {
  return impl_->tree.remove(tenant, max_steps);
}

bool TokenTree::evict(std::uint64_t budget, std::size_t max_steps) {
  return impl_->tree.evict(budget, max_steps);
}

void TokenTree::clear() { impl_->tree.clear(); }

std::uint64_t TokenTree::size() const { return impl_->tree.ledger().total(); }
std::uint64_t TokenTree::size(TenantId tenant) const { return impl_->tree.ledger().total(tenant); }
std::size_t TokenTree::tenant_count() const { return impl_->tree.ledger().tenant_count(); }
std::size_t TokenTree::node_count() const { return impl_->tree.node_count(); }
std::size_t TokenTree::memory_bytes() const { return impl_->tree.memory_bytes(); }

}  // namespace smg::index
