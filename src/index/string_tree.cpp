#include "smg/index/string_tree.hpp"

#include "radix_tree.hpp"

namespace smg::index {

struct StringTree::Impl {
  RadixTree tree{Units::scalars()};
  RadixTree::Cursor cursor;  // of the last descend()
};

StringTree::StringTree() : impl_(std::make_unique<Impl>()) {}
StringTree::~StringTree() = default;

PrefixMatch StringTree::descend(std::string_view key, std::uint64_t partition) {
  return impl_->tree.match(key, partition, impl_->cursor);
}

void StringTree::insert_from_cursor(std::string_view key, TenantId tenant) {
  impl_->tree.enroll(tenant);
  impl_->tree.insert(key, tenant, impl_->cursor);
}

PrefixMatch StringTree::match(std::string_view key, std::uint64_t partition) const {
  RadixTree::Cursor cursor;
  return impl_->tree.match(key, partition, cursor);
}

bool StringTree::remove_some(TenantId tenant, std::size_t max_steps) {
  return impl_->tree.remove(tenant, max_steps);
}

bool StringTree::evict(std::uint64_t budget, std::size_t max_steps) {
  return impl_->tree.evict(budget, max_steps);
}

void StringTree::clear() { impl_->tree.clear(); }

std::uint64_t StringTree::size() const { return impl_->tree.ledger().total(); }
std::uint64_t StringTree::size(TenantId tenant) const { return impl_->tree.ledger().total(tenant); }
std::size_t StringTree::tenant_count() const { return impl_->tree.ledger().tenant_count(); }
std::size_t StringTree::node_count() const { return impl_->tree.node_count(); }
std::size_t StringTree::memory_bytes() const { return impl_->tree.memory_bytes(); }

}  // namespace smg::index
