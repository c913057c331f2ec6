#include "smg/protocol/json_scanner.hpp"

#include <bit>
#include <charconv>
#include <cstring>

#include "byte_blocks.hpp"

namespace smg::protocol {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_hex_digit(char c) {
  const char lower = static_cast<char>(c | 0x20);
  return is_digit(c) || (lower >= 'a' && lower <= 'f');
}

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

// First byte that is not plain text of a string, or `end`.
const char* skip_plain(const char* p, const char* end) {
  // One block for keys and the like, then four at once for text.
  if (end - p >= ByteBlock::size) {
    const int first = ByteBlock::first(ByteBlock(p).special());
    if (first != ByteBlock::size) return p + first;
    p += ByteBlock::size;
  }
  for (; end - p >= ByteBlocks::size; p += ByteBlocks::size) {
    const auto hits = ByteBlocks(p).special();
    if (hits.any()) return p + hits.first();
  }
  for (; end - p >= ByteBlock::size; p += ByteBlock::size) {
    const int first = ByteBlock::first(ByteBlock(p).special());
    if (first != ByteBlock::size) return p + first;
  }
  while (p != end && is_plain(*p)) ++p;
  return p;
}

// Length of the well-formed UTF-8 sequence that starts with the non-ASCII byte at `p`, else 0.
int utf8_length(const char* p, const char* end) {
  const auto at = [p](int i) { return static_cast<unsigned char>(p[i]); };
  const auto follows = [&at](int i) { return (at(i) & 0xC0) == 0x80; };
  const auto room = end - p;
  const unsigned lead = at(0);
  if (lead < 0xC2) return 0;  // a continuation, or an overlong form of ASCII
  if (lead < 0xE0) return room >= 2 && follows(1) ? 2 : 0;
  if (lead < 0xF0) {
    if (room < 3 || !follows(1) || !follows(2)) return 0;
    if (lead == 0xE0 && at(1) < 0xA0) return 0;  // overlong
    if (lead == 0xED && at(1) > 0x9F) return 0;  // surrogate
    return 3;
  }
  if (lead > 0xF4 || room < 4 || !follows(1) || !follows(2) || !follows(3)) return 0;
  if (lead == 0xF0 && at(1) < 0x90) return 0;  // overlong
  if (lead == 0xF4 && at(1) > 0x8F) return 0;  // above U+10FFFF
  return 4;
}

struct ShortNumber {
  int digits = 0;  // 0: not known this way
  std::int64_t value = 0;
};

// One to seven digits, as token ids have, without a branch per digit: lists of thousands of ids of
// mixed length would mispredict one at each.
ShortNumber read_short_number(const char* p, const char* end) {
  std::uint64_t word = 0;
  if (std::endian::native != std::endian::little || end - p < 8) return {};
  std::memcpy(&word, p, sizeof word);
  constexpr std::uint64_t every = 0x0101010101010101;
  word ^= '0' * every;  // digits become 0..9
  // Bit 7 of each byte that is none: above 9, or with its own bit 7 set.
  const std::uint64_t others = (((word & 0x7F * every) + 0x76 * every) | word) & 0x80 * every;
  const int digits = others == 0 ? 8 : std::countr_zero(others) / 8;
  if (digits == 0 || digits == 8) return {};
  word <<= 64 - 8 * digits;  // as if padded with leading zeros
  word = (word * 10 + (word >> 8)) & 0x00FF00FF00FF00FF;
  word = (word * 100 + (word >> 16)) & 0x0000FFFF0000FFFF;
  word = (word * 10000 + (word >> 32)) & 0x00000000FFFFFFFF;
  return {digits, static_cast<std::int64_t>(word)};
}

JsonKind kind_of(char first) {
  switch (first) {
    case '{':
      return JsonKind::object;
    case '[':
      return JsonKind::array;
    case '"':
      return JsonKind::string;
    case 't':
      return JsonKind::true_literal;
    case 'f':
      return JsonKind::false_literal;
    case 'n':
      return JsonKind::null_literal;
    default:
      return first == '-' || is_digit(first) ? JsonKind::number : JsonKind::invalid;
  }
}

}  // namespace

bool JsonScanner::fail(const char* reason) {
  if (reason_ == nullptr) {
    reason_ = reason;
    error_offset_ = static_cast<std::size_t>(cursor_ - begin_);
  }
  cursor_ = end_;
  return false;
}

bool JsonScanner::fail_here() {
  return fail(cursor_ == end_ ? "unexpected end" : "unexpected character");
}

void JsonScanner::skip_space() {
  while (cursor_ != end_ &&
         (*cursor_ == ' ' || *cursor_ == '\n' || *cursor_ == '\r' || *cursor_ == '\t')) {
    ++cursor_;
  }
}

JsonKind JsonScanner::kind() {
  skip_space();
  const JsonKind kind = cursor_ == end_ ? JsonKind::invalid : kind_of(*cursor_);
  if (kind == JsonKind::invalid) fail_here();
  return kind;
}

void JsonScanner::push(bool object) {
  const std::uint64_t bit = std::uint64_t{1} << depth_ % 64;
  auto& word = nesting_[depth_ / 64];
  word = object ? word | bit : word & ~bit;
  ++depth_;
}

bool JsonScanner::enter() {
  skip_space();
  if (cursor_ == end_ || (*cursor_ != '{' && *cursor_ != '[')) return fail_here();
  if (depth_ == depth_limit_) return fail("nested too deeply");
  push(*cursor_ == '{');
  ++cursor_;
  at_first_ = true;
  return true;
}

// Past the comma to the next member or element, or past the closing bracket (false).
bool JsonScanner::next_member(char closing) {
  skip_space();
  if (cursor_ == end_) return fail_here();
  const bool first = at_first_;
  at_first_ = false;
  if (*cursor_ == closing) {
    ++cursor_;
    --depth_;
    return false;
  }
  if (first) return true;
  if (*cursor_ != ',') return fail_here();
  ++cursor_;
  return true;
}

bool JsonScanner::next_key(JsonString& key) {
  if (!next_member('}') || !read_string(key)) return false;
  skip_space();
  if (cursor_ == end_ || *cursor_ != ':') return fail_here();
  ++cursor_;
  return true;
}

bool JsonScanner::next_element() { return next_member(']'); }

bool JsonScanner::read_string(JsonString& out) {
  skip_space();
  if (cursor_ == end_ || *cursor_ != '"') return fail_here();
  ++cursor_;
  return scan_string(out);
}

bool JsonScanner::scan_string(JsonString& out) {
  const char* const start = cursor_;
  bool escaped = false;
  for (;;) {
    cursor_ = skip_plain(cursor_, end_);
    if (cursor_ == end_) return fail("unterminated string");
    if (*cursor_ == '"') break;
    if (*cursor_ == '\\') {
      escaped = true;
      if (!skip_escape()) return false;
    } else if (static_cast<unsigned char>(*cursor_) < 0x20) {
      return fail("control character in a string");
    } else if (!skip_utf8()) {
      return false;
    }
  }
  out.raw = {start, static_cast<std::size_t>(cursor_ - start)};
  out.escaped = escaped;
  ++cursor_;
  return true;
}

bool JsonScanner::skip_escape() {
  const auto room = end_ - cursor_;
  if (room >= 2) {
    switch (cursor_[1]) {
      case '"':
      case '\\':
      case '/':
      case 'b':
      case 'f':
      case 'n':
      case 'r':
      case 't':
        cursor_ += 2;
        return true;
      case 'u':
        if (room < 6 || !is_hex_digit(cursor_[2]) || !is_hex_digit(cursor_[3]) ||
            !is_hex_digit(cursor_[4]) || !is_hex_digit(cursor_[5])) {
          break;
        }
        cursor_ += 6;
        return true;
      default:
        break;
    }
  }
  return fail("invalid escape");
}

// A whole run, for text in scripts other than Latin.
bool JsonScanner::skip_utf8() {
  do {
    const int length = utf8_length(cursor_, end_);
    if (length == 0) return fail("invalid UTF-8");
    cursor_ += length;
  } while (cursor_ != end_ && static_cast<unsigned char>(*cursor_) >= 0x80);
  return true;
}

bool JsonScanner::skip_digits() {
  if (cursor_ == end_ || !is_digit(*cursor_)) return fail_here();
  while (cursor_ != end_ && is_digit(*cursor_)) ++cursor_;
  return true;
}

bool JsonScanner::read_number(JsonNumber& out) {
  skip_space();
  const char* const start = cursor_;
  const bool negative = cursor_ != end_ && *cursor_ == '-';
  if (negative) ++cursor_;
  const char* const digits = cursor_;
  const ShortNumber number = read_short_number(cursor_, end_);
  if (number.digits != 0) {
    cursor_ += number.digits;
  } else if (!skip_digits()) {
    return false;
  }
  const auto digit_count = cursor_ - digits;
  if (*digits == '0' && digit_count > 1) {
    cursor_ = digits + 1;
    return fail_here();
  }
  const char* const whole_end = cursor_;
  if (!skip_fraction()) return false;
  out.raw = {start, static_cast<std::size_t>(cursor_ - start)};
  out.integer = cursor_ == whole_end && digit_count <= 18;
  std::int64_t value = number.value;
  if (out.integer && number.digits == 0) std::from_chars(digits, whole_end, value);
  out.value = negative ? -value : value;
  return true;
}

bool JsonScanner::skip_fraction() {
  if (cursor_ != end_ && *cursor_ == '.') {
    ++cursor_;
    if (!skip_digits()) return false;
  }
  if (cursor_ != end_ && (*cursor_ == 'e' || *cursor_ == 'E')) {
    ++cursor_;
    if (cursor_ != end_ && (*cursor_ == '+' || *cursor_ == '-')) ++cursor_;
    if (!skip_digits()) return false;
  }
  return true;
}

bool JsonScanner::skip_literal(std::string_view word) {
  if (static_cast<std::size_t>(end_ - cursor_) < word.size() ||
      std::memcmp(cursor_, word.data(), word.size()) != 0) {
    return fail("invalid literal");
  }
  cursor_ += word.size();
  return true;
}

bool JsonScanner::skip_scalar(JsonKind kind) {
  JsonString string;
  JsonNumber number;
  switch (kind) {
    case JsonKind::string:
      return read_string(string);
    case JsonKind::number:
      return read_number(number);
    case JsonKind::true_literal:
      return skip_literal("true");
    case JsonKind::false_literal:
      return skip_literal("false");
    case JsonKind::null_literal:
      return skip_literal("null");
    default:
      return false;
  }
}

bool JsonScanner::skip_value() {
  const std::size_t outside = depth_;
  do {
    const JsonKind at = kind();
    if (at == JsonKind::object || at == JsonKind::array) {
      if (!enter()) return false;
    } else if (!skip_scalar(at)) {
      return false;
    }
    // On to the next value inside, closing what ends on the way.
    JsonString key;
    while (depth_ > outside && !(in_object() ? next_key(key) : next_element())) {
      if (failed()) return false;
    }
  } while (depth_ > outside);
  return true;
}

bool JsonScanner::finish() {
  if (failed()) return false;
  skip_space();
  return cursor_ == end_ || fail_here();
}

}  // namespace smg::protocol
