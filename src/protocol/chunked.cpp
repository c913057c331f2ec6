#include "smg/protocol/chunked.hpp"

#include <algorithm>
#include <limits>

#include "char_class.hpp"

namespace smg::protocol {
namespace {

constexpr std::uint32_t kMaxExtensionBytes = 4 * 1024;
constexpr std::uint32_t kMaxTrailerBytes = 16 * 1024;
constexpr std::uint8_t kMaxSizeDigits = 16;
constexpr auto kMaxChunk = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

// Value of a hex digit, -1 for anything else.
int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  const char folded = lower(c);
  return folded >= 'a' && folded <= 'f' ? folded - 'a' + 10 : -1;
}

}  // namespace

ChunkedDecoder::State ChunkedDecoder::add_size_digit(char c) {
  const int digit = hex_value(c);
  if (digit < 0 || size_digits_ == kMaxSizeDigits || remaining_ > (kMaxChunk >> 4)) {
    return State::error;
  }
  ++size_digits_;
  remaining_ = (remaining_ << 4) | static_cast<std::uint64_t>(digit);
  return State::size;
}

ChunkedDecoder::State ChunkedDecoder::step_framing(char c) {
  switch (state_) {
    case State::size_first:
      size_digits_ = 0;
      remaining_ = 0;
      return add_size_digit(c);
    case State::size:
      if (c == '\r') return State::size_lf;
      if (c != ';') return add_size_digit(c);
      [[fallthrough]];
    case State::extension:
      if (c == '\r') return State::size_lf;
      if (!is_class(c, kValueChar) || ++extension_bytes_ > kMaxExtensionBytes) return State::error;
      return State::extension;
    case State::size_lf:
      if (c != '\n') return State::error;
      return remaining_ == 0 ? State::trailer_start : State::data;
    case State::data_cr:
      return c == '\r' ? State::data_lf : State::error;
    case State::data_lf:
      return c == '\n' ? State::size_first : State::error;
    case State::trailer_start:
      if (c == '\r') return State::last_lf;
      if (!is_class(c, kTokenChar)) return State::error;
      return ++trailer_bytes_ > kMaxTrailerBytes ? State::error : State::trailer_name;
    case State::trailer_name:
      if (++trailer_bytes_ > kMaxTrailerBytes) return State::error;
      if (c == ':') return State::trailer_value;
      return is_class(c, kTokenChar) ? State::trailer_name : State::error;
    case State::trailer_value:
      if (c == '\r') return State::trailer_lf;
      if (++trailer_bytes_ > kMaxTrailerBytes) return State::error;
      return is_class(c, kValueChar) ? State::trailer_value : State::error;
    case State::trailer_lf:
      return c == '\n' ? State::trailer_start : State::error;
    case State::last_lf:
      return c == '\n' ? State::done : State::error;
    case State::data:
    case State::done:
    case State::error:
      break;
  }
  return State::error;
}

ChunkedDecoder::Step ChunkedDecoder::next(std::string_view input) {
  if (state_ == State::done) return {Status::done, 0, {}};
  std::size_t used = 0;
  while (used < input.size() && state_ != State::error) {
    if (state_ == State::data) {
      const std::string_view rest = input.substr(used);
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, rest.size()));
      remaining_ -= size;
      if (remaining_ == 0) state_ = State::data_cr;
      return {Status::data, used + size, rest.substr(0, size)};
    }
    state_ = step_framing(input[used]);
    ++used;
    if (state_ == State::done) return {Status::done, used, {}};
  }
  return {state_ == State::error ? Status::error : Status::need_more, used, {}};
}

}  // namespace smg::protocol
