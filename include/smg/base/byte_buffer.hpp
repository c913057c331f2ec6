// A growable run of bytes that is filled at the end and consumed from the front. Growth uses
// realloc, so a large one moves by remapping pages, not by copying. Always kPadding readable bytes
// behind the end. Not thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace smg {

class ByteBuffer {
 public:
  static constexpr std::size_t kPadding = 64;

  ByteBuffer() = default;
  ByteBuffer(ByteBuffer&& other) noexcept { swap(other); }
  ByteBuffer& operator=(ByteBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~ByteBuffer();

  std::string_view view() const { return {data_ + begin_, end_ - begin_}; }
  std::size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  std::size_t capacity() const { return capacity_; }

  // At least `n` writable bytes behind the content. Invalidates views unless room() >= n.
  std::span<char> prepare(std::size_t n);
  std::size_t room() const { return capacity_ - end_; }
  void commit(std::size_t n) { end_ += n; }
  void consume(std::size_t n) {
    begin_ += n;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  void append(std::string_view bytes);
  // Empties it and gives the memory back.
  void release();

 private:
  void swap(ByteBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
    std::swap(capacity_, other.capacity_);
  }

  char* data_ = nullptr;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace smg
