#include "smg/base/byte_buffer.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace smg {

ByteBuffer::~ByteBuffer() { std::free(data_); }

std::span<char> ByteBuffer::prepare(std::size_t n) {
  if (room() < n) {
    if (begin_ > 0 && begin_ >= size() && capacity_ - size() >= n) {
      // The content fits before where it stands: move it once instead of growing.
      std::memcpy(data_, data_ + begin_, size());
      end_ -= begin_;
      begin_ = 0;
    } else {
      const std::size_t wanted = std::max(end_ + n, capacity_ + capacity_ / 2);
      char* grown = static_cast<char*>(std::realloc(data_, wanted + kPadding));
      if (grown == nullptr) throw std::bad_alloc();
      data_ = grown;
      capacity_ = wanted;
    }
  }
  return {data_ + end_, capacity_ - end_};
}

void ByteBuffer::append(std::string_view bytes) {
  if (bytes.empty()) return;
  std::memcpy(prepare(bytes.size()).data(), bytes.data(), bytes.size());
  commit(bytes.size());
}

void ByteBuffer::release() {
  std::free(data_);
  data_ = nullptr;
  begin_ = end_ = capacity_ = 0;
}

}  // namespace smg
