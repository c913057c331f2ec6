// Log lines on their way to the writer: bounded, the oldest fall out first. Not thread-safe; the
// writer guards it.
//
// Lines lie one after the other in one string, so that a push copies and seldom allocates, and an
// idle queue costs nothing (spdlog's preallocates 400 bytes for each entry).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace smg::log {

class LogQueue {
 public:
  static constexpr std::size_t kMaxLines = 4096;
  static constexpr std::size_t kMaxBytes = std::size_t{4} << 20;

  // `line` has no line end of its own and is shorter than kMaxBytes.
  void push(std::string_view line);

  // Replaces `out` with all lines in order, each ended by \n, and takes its memory for the next.
  void take(std::string& out);

  bool empty() const { return lines_ == 0; }
  std::uint64_t dropped() const { return dropped_; }  // since the last reset
  void reset_dropped() { dropped_ = 0; }

 private:
  void drop_oldest();

  std::string text_;
  std::size_t head_ = 0;  // the bytes of text_ before it belong to dropped lines
  std::size_t lines_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace smg::log
