// What a node notes of each tenant that holds it, in 32 bits.
//
// Most holders of a node hold something below it as well and never ended there lately: for them the
// number of the node's children that they hold is all there is. The others stand in the ledger's
// list; the mark then names their entry, which has that number.
#pragma once

#include <cstdint>

namespace smg::index {

class Mark {
 public:
  static Mark inner(std::uint32_t children) { return Mark(children | kInner); }
  static Mark listed(std::uint32_t entry) { return Mark(entry); }
  Mark() = default;

  bool is_inner() const { return (bits_ & kInner) != 0; }
  std::uint32_t children() const { return bits_ & ~kInner; }  // of an inner one
  std::uint32_t entry() const { return bits_; }               // of a listed one

 private:
  static constexpr std::uint32_t kInner = 0x80000000;  // no slab has so many entries
  explicit Mark(std::uint32_t bits) : bits_(bits) {}

  std::uint32_t bits_ = 0;
};

}  // namespace smg::index
