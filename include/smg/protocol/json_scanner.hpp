// A validating pull scanner over one JSON document: one pass, no tree, no recursion, no allocation.
//
// Accepts RFC 8259 and nothing else: no byte order mark, no control characters in strings, nothing
// behind the document, UTF-8 without overlong forms or surrogates. Only escapes of lone surrogates
// pass, as the grammar allows them. Numbers have no range.
//
// The caller stands before a value and consumes it in one of four ways: read_string, read_number,
// skip_value, or enter followed by next_key / next_element until that is false, with each value in
// between consumed. The first error sticks: from then on every operation is false, so loops end by
// themselves and failed() need be asked only once. Not thread safe; views point into the document.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "smg/protocol/json_string.hpp"

namespace smg::protocol {

enum class JsonKind : std::uint8_t {
  invalid,
  object,
  array,
  string,
  number,
  true_literal,
  false_literal,
  null_literal,
};

struct JsonNumber {
  std::string_view raw;
  // The value, where `integer`: no fraction, no exponent, at most 18 digits.
  std::int64_t value = 0;
  bool integer = false;
};

class JsonScanner {
 public:
  static constexpr std::size_t max_depth = 512;  // open objects and arrays

  explicit JsonScanner(std::string_view document, std::size_t depth_limit = max_depth)
      : begin_(document.data()),
        cursor_(document.data()),
        end_(document.data() + document.size()),
        depth_limit_(depth_limit < max_depth ? depth_limit : max_depth) {}

  // What the value at the cursor is by its first byte; invalid fails the scan.
  JsonKind kind();

  // Steps into the object or array at the cursor.
  bool enter();
  // True: the scanner stands before the next member's value. False: the object is closed.
  bool next_key(JsonString& key);
  // True: the scanner stands before the next element. False: the array is closed.
  bool next_element();

  bool read_string(JsonString& out);
  bool read_number(JsonNumber& out);
  bool skip_value();

  // Behind the document's value: true if nothing but white space is left.
  bool finish();

  bool failed() const { return reason_ != nullptr; }
  const char* reason() const { return reason_ == nullptr ? "" : reason_; }
  std::size_t error_offset() const { return error_offset_; }

 private:
  void skip_space();
  bool next_member(char closing);
  bool scan_string(JsonString& out);
  bool skip_escape();
  bool skip_utf8();
  bool skip_digits();
  bool skip_fraction();
  bool skip_literal(std::string_view word);
  bool skip_scalar(JsonKind kind);
  void push(bool object);
  bool in_object() const { return (nesting_[(depth_ - 1) / 64] >> ((depth_ - 1) % 64) & 1) != 0; }
  bool fail(const char* reason);
  bool fail_here();

  const char* begin_;
  const char* cursor_;
  const char* end_;
  const char* reason_ = nullptr;
  std::size_t error_offset_ = 0;
  std::size_t depth_limit_;
  std::size_t depth_ = 0;
  bool at_first_ = false;                              // just entered: no comma before the next
  std::array<std::uint64_t, max_depth / 64> nesting_;  // bit i: level i + 1 is an object
};

}  // namespace smg::protocol
