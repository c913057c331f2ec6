// Sixteen bytes at a time with the compiler's portable vectors: the loop of every string scan.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace smg::protocol {

class ByteBlock {
 public:
  static constexpr int size = 16;
  using Bytes = std::int8_t __attribute__((vector_size(16)));
  using Words = std::uint64_t __attribute__((vector_size(16)));

  explicit ByteBlock(const char* from) { std::memcpy(&bytes_, from, size); }
  void store(char* to) const { std::memcpy(to, &bytes_, size); }

  // Each answer has 0xFF in the bytes where it holds.
  Bytes equal(char c) const { return bytes_ == static_cast<std::int8_t>(c); }
  // Bytes that end or interrupt the plain ASCII of a JSON string: quote, backslash, and, as one
  // signed comparison, controls and all that is not ASCII.
  Bytes special() const { return equal('"') | equal('\\') | (bytes_ < std::int8_t{0x20}); }

  static bool any(Bytes hits) {
    const auto words = reinterpret_cast<Words>(hits);
    return (words[0] | words[1]) != 0;
  }
  // Index of the first hit; `size` if there is none.
  static int first(Bytes hits) {
    const auto words = reinterpret_cast<Words>(hits);
    if (words[0] != 0) return first_byte(words[0]);
    return words[1] == 0 ? size : 8 + first_byte(words[1]);
  }

 private:
  static int first_byte(std::uint64_t word) {
    return (std::endian::native == std::endian::little ? std::countr_zero(word)
                                                       : std::countl_zero(word)) /
           8;
  }

  Bytes bytes_;
};

}  // namespace smg::protocol
