// Character classes of HTTP/1.1 by table, and runs of them. Private to the protocol layer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace smg::protocol {

enum CharClass : std::uint8_t {
  kTokenChar = 1,   // RFC 9110 tchar
  kTargetChar = 2,  // visible ASCII but '#', which no request target may hold
  kValueChar = 4,   // field values: HTAB, SP, visible ASCII, bytes >= 0x80
  kHostChar = 8,    // uri-host and port; ',' and '@' left out, they only serve to confuse
};

constexpr std::array<std::uint8_t, 256> make_char_classes() {
  constexpr std::string_view token_marks = "!#$%&'*+-.^_`|~";
  constexpr std::string_view host_marks = "-._~%!$&'()*+;=:[]";
  std::array<std::uint8_t, 256> table{};
  for (std::size_t c = 0; c < table.size(); ++c) {
    const char ch = static_cast<char>(c);
    const bool alnum = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    unsigned bits = 0;
    if (alnum || (c != 0 && token_marks.find(ch) != token_marks.npos)) bits |= kTokenChar;
    if (c > 0x20 && c < 0x7f && ch != '#') bits |= kTargetChar;
    if (c == '\t' || (c >= 0x20 && c != 0x7f)) bits |= kValueChar;
    if (alnum || (c != 0 && host_marks.find(ch) != host_marks.npos)) bits |= kHostChar;
    table[c] = static_cast<std::uint8_t>(bits);
  }
  return table;
}
inline constexpr std::array<std::uint8_t, 256> kCharClasses = make_char_classes();

constexpr std::array<char, 256> make_lower_table() {
  std::array<char, 256> table{};
  for (std::size_t c = 0; c < table.size(); ++c) {
    table[c] = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  }
  return table;
}
inline constexpr std::array<char, 256> kLower = make_lower_table();

constexpr bool is_class(char c, CharClass wanted) {
  return (kCharClasses[static_cast<unsigned char>(c)] & wanted) != 0;
}
constexpr char lower(char c) { return kLower[static_cast<unsigned char>(c)]; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }

constexpr bool all_of_class(std::string_view text, CharClass wanted) {
  for (const char c : text) {
    if (!is_class(c, wanted)) return false;
  }
  return true;
}

// iequals() for loops over many names, most of which differ in size.
constexpr bool equals_folded(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

constexpr std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// First byte at or after `p` that may not be in a field value; `end` if there is none.
inline const char* skip_value_chars(const char* p, const char* end) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t highs = 0x8080808080808080;
  for (;;) {
    // Eight at a time while none is below 0x20 or DEL; what stops this is looked at one by one,
    // so that a borrow into a neighbouring byte or an HTAB only costs time.
    while (end - p >= 8) {
      std::uint64_t word;
      std::memcpy(&word, p, sizeof word);
      const std::uint64_t del = word ^ (ones * 0x7f);
      const std::uint64_t hit = ((word - ones * 0x20) & ~word) | ((del - ones) & ~del);
      if ((hit & highs) != 0) break;
      p += 8;
    }
    const char* const stop = end - p >= 8 ? p + 8 : end;
    while (p != stop && is_class(*p, kValueChar)) ++p;
    if (p != stop || p == end) return p;
  }
}

}  // namespace smg::protocol
