// Blocks of bytes with the compiler's portable vectors: the inner loop of every string scan.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>
#include <cstdint>
#include <cstring>

namespace smg::protocol {

class ByteBlock {
 public:
  static constexpr int size = 16;
  using Bytes = std::int8_t __attribute__((vector_size(16)));

  explicit ByteBlock(const char* from) { std::memcpy(&bytes_, from, size); }
  void store(char* to) const { std::memcpy(to, &bytes_, size); }

  // Each answer has 0xFF in the bytes where it holds.
  Bytes equal(char c) const { return bytes_ == static_cast<std::int8_t>(c); }
  // Bytes that end or interrupt the plain ASCII of a JSON string: quote, backslash, and, as one
  // signed comparison, controls and all that is not ASCII.
  Bytes special() const { return equal('"') | equal('\\') | (bytes_ < std::int8_t{0x20}); }

  // Bit i: byte i of the answer is set.
  static std::uint64_t mask(Bytes hits) {
#if defined(__SSE2__)
    return static_cast<unsigned>(_mm_movemask_epi8(__m128i(hits)));
#else
    static_assert(std::endian::native == std::endian::little);
    using Words = std::uint64_t __attribute__((vector_size(16)));
    const auto words = reinterpret_cast<Words>(hits);
    return gather(words[0]) | gather(words[1]) << 8;
#endif
  }
  // Index of the first hit; `size` if there is none.
  static int first(Bytes hits) { return std::countr_zero(mask(hits) | 1U << size); }

 private:
  // The low bit of each byte, moved together by one multiplication.
  static constexpr std::uint64_t gather(std::uint64_t word) {
    return ((word & 0x0101010101010101) * 0x0102040810204080) >> 56;
  }

  Bytes bytes_;
};

// Four blocks: a run of text without a branch per block.
class ByteBlocks {
 public:
  static constexpr int size = 4 * ByteBlock::size;
  using Bytes = ByteBlock::Bytes;
  struct Hits {
    Bytes a, b, c, d;

    bool any() const { return ByteBlock::mask(a | b | c | d) != 0; }
    // Index of the first hit; there must be one.
    int first() const {
      return std::countr_zero(ByteBlock::mask(a) | ByteBlock::mask(b) << 16 |
                              ByteBlock::mask(c) << 32 | ByteBlock::mask(d) << 48);
    }
  };

  explicit ByteBlocks(const char* from)
      : a_(from),
        b_(from + ByteBlock::size),
        c_(from + 2 * ByteBlock::size),
        d_(from + 3 * ByteBlock::size) {}
  void store(char* to) const {
    a_.store(to);
    b_.store(to + ByteBlock::size);
    c_.store(to + 2 * ByteBlock::size);
    d_.store(to + 3 * ByteBlock::size);
  }
  Hits equal(char c) const { return {a_.equal(c), b_.equal(c), c_.equal(c), d_.equal(c)}; }
  Hits special() const { return {a_.special(), b_.special(), c_.special(), d_.special()}; }

 private:
  ByteBlock a_, b_, c_, d_;
};

}  // namespace smg::protocol
