#include "smg/protocol/json_string.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "byte_blocks.hpp"

namespace smg::protocol {
namespace {

constexpr std::uint32_t replacement = 0xFFFD;

std::uint32_t hex_digit(char c) {
  if (c <= '9') return static_cast<std::uint32_t>(c - '0');
  return static_cast<std::uint32_t>((c | 0x20) - 'a' + 10);
}

std::uint32_t hex4(const char* p) {
  return hex_digit(p[0]) << 12 | hex_digit(p[1]) << 8 | hex_digit(p[2]) << 4 | hex_digit(p[3]);
}

char* put_utf8(std::uint32_t code, char* out) {
  const auto put = [&out](std::uint32_t byte) { *out++ = static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
  return out;
}

// `p` is behind "\u"; leaves it behind the digits, those of a second half included.
std::uint32_t read_code_point(const char*& p, const char* end) {
  const std::uint32_t unit = hex4(p);
  p += 4;
  if (unit < 0xD800 || unit > 0xDFFF) return unit;
  if (unit > 0xDBFF || end - p < 6 || p[0] != '\\' || p[1] != 'u') return replacement;
  const std::uint32_t low = hex4(p + 2);
  if (low < 0xDC00 || low > 0xDFFF) return replacement;
  p += 6;
  return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
}

char simple_escape(char c) {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;  // quote, backslash, slash
  }
}

}  // namespace

char* unescape(std::string_view raw, char* out) {
  const char* p = raw.data();
  const char* const end = p + raw.size();
  while (p != end) {
    // Blocks are stored whole and cut at the first backslash: cheaper than finding the length
    // first. The output is never ahead of the input, so raw.size() bytes of room take a block.
    int plain = 0;
    if (end - p >= ByteBlocks::size) {
      const ByteBlocks blocks(p);
      blocks.store(out);
      const auto hits = blocks.equal('\\');
      plain = hits.any() ? hits.first() : ByteBlocks::size;
    } else if (end - p >= ByteBlock::size) {
      const ByteBlock block(p);
      block.store(out);
      plain = ByteBlock::first(block.equal('\\'));
    } else if (*p != '\\') {
      *out = *p;
      plain = 1;
    }
    p += plain;
    out += plain;
    if (p == end || *p != '\\') continue;
    const char kind = p[1];
    p += 2;
    if (kind == 'u') {
      out = put_utf8(read_code_point(p, end), out);
    } else {
      *out++ = simple_escape(kind);
    }
  }
  return out;
}

std::string_view unescaped(const JsonString& string, std::string& storage) {
  if (!string.escaped) return string.raw;
  storage.resize(string.raw.size());
  storage.resize(static_cast<std::size_t>(unescape(string.raw, storage.data()) - storage.data()));
  return storage;
}

bool equals_unescaped(std::string_view raw, std::string_view text) {
  // One byte of text takes at most six of a raw string.
  std::array<char, 256> buffer;
  if (raw.size() > 6 * text.size() || raw.size() > buffer.size()) return false;
  const char* const end = unescape(raw, buffer.data());
  return std::string_view(buffer.data(), static_cast<std::size_t>(end - buffer.data())) == text;
}

}  // namespace smg::protocol
