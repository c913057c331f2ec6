#include "smg/base/log_line.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

#include "smg/base/utf8.hpp"

namespace smg::log {
namespace {

using std::chrono::system_clock;

std::string_view level_name(Level level) {
  switch (level) {
    case Level::trace:
      return "TRACE";
    case Level::debug:
      return "DEBUG";
    case Level::info:
      return "INFO";
    case Level::warn:
      return "WARN";
    case Level::error:
      return "ERROR";
    case Level::off:
      break;
  }
  return "OFF";
}

void append_digits(std::string& out, std::uint64_t value, int width) {
  char digits[20];
  for (int i = width; i-- > 0; value /= 10) digits[i] = static_cast<char>('0' + value % 10);
  out.append(digits, static_cast<std::size_t>(width));
}

// `YYYY-MM-DD HH:MM:SS` with `separator` in the middle. Every line has one, so each thread keeps
// the text of the second that it wrote last.
void append_second(std::string& out, system_clock::time_point time, char separator) {
  using namespace std::chrono;
  thread_local sys_seconds kept_second{seconds{-1}};
  thread_local std::string kept;
  const auto second = floor<seconds>(time);
  if (second != kept_second || kept.empty()) {
    const auto day = floor<days>(second);
    const year_month_day date{day};
    const hh_mm_ss clock{second - day};
    kept.clear();
    append_digits(kept, static_cast<std::uint64_t>(static_cast<int>(date.year())), 4);
    append_digits(kept.append(1, '-'), static_cast<unsigned>(date.month()), 2);
    append_digits(kept.append(1, '-'), static_cast<unsigned>(date.day()), 2);
    append_digits(kept.append(1, ' '), static_cast<std::uint64_t>(clock.hours().count()), 2);
    append_digits(kept.append(1, ':'), static_cast<std::uint64_t>(clock.minutes().count()), 2);
    append_digits(kept.append(1, ':'), static_cast<std::uint64_t>(clock.seconds().count()), 2);
    kept_second = second;
  }
  const std::size_t at = out.size();
  out += kept;
  out[at + 10] = separator;
}

template <class T>
void append_number(std::string& out, T value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

void append_hex(std::string& out, char32_t value, int width) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (int shift = (width - 1) * 4; shift >= 0; shift -= 4) {
    out += kDigits[(value >> shift) & 0xF];
  }
}

// Scalars that a terminal or a log viewer may obey instead of showing.
bool is_invisible(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || c == 0x200E ||
         c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

enum class Escape : std::uint8_t { message, quoted, json };

void append_short_escape(std::string& out, char letter) {
  out += '\\';
  out += letter;
}

void append_scalar(std::string& out, std::string_view bytes, char32_t c, Escape style) {
  if (c == '\n') return append_short_escape(out, 'n');
  if (c == '\r') return append_short_escape(out, 'r');
  if (c == '\t') return append_short_escape(out, 't');
  if ((c == '"' || c == '\\') && style != Escape::message) {
    return append_short_escape(out, static_cast<char>(c));
  }
  if (!is_invisible(c)) {
    out += bytes;
  } else if (style == Escape::json) {
    append_hex(out.append("\\u"), c, 4);
  } else if (c < 0x80) {
    append_hex(out.append("\\x"), c, 2);
  } else {
    append_hex(out.append("\\u{"), c, c < 0x100 ? 2 : 4);
    out += '}';
  }
}

void append_bad_byte(std::string& out, char byte, Escape style) {
  if (style == Escape::json) {
    out += "\xEF\xBF\xBD";
  } else {
    append_hex(out.append("\\x"), static_cast<unsigned char>(byte), 2);
  }
}

// ASCII bytes that stand for themselves in every style, but for `except`.
constexpr std::array<bool, 256> plain_bytes(std::string_view except) {
  std::array<bool, 256> plain{};
  for (unsigned char byte = 0x20; byte < 0x7F; ++byte) {
    plain[byte] = except.find(static_cast<char>(byte)) == std::string_view::npos;
  }
  return plain;
}

constexpr auto kUnescaped = plain_bytes("\"\\");
constexpr auto kUnquoted = plain_bytes("\"\\ =");

std::size_t plain_length(std::string_view text, const std::array<bool, 256>& plain) {
  std::size_t n = 0;
  while (n < text.size() && plain[static_cast<unsigned char>(text[n])]) ++n;
  return n;
}

void append_escaped(std::string& out, std::string_view text, Escape style) {
  const std::size_t whole = text.size();
  std::size_t cut = std::min(whole, kMaxText);
  // Cut between scalars: step back over at most three continuation bytes.
  for (int i = 0; i < 3 && cut < whole && (text[cut] & 0xC0) == 0x80; ++i) --cut;
  text = text.substr(0, cut);
  while (!text.empty()) {
    const std::size_t plain = plain_length(text, kUnescaped);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto [value, size] = first_scalar(text);
    if (size == 0) {
      append_bad_byte(out, text[0], style);
    } else {
      append_scalar(out, text.substr(0, size), value, style);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  if (cut < whole) {
    append_number(out.append("...(+"), whole - cut);
    out += " bytes)";
  }
}

bool needs_quotes(std::string_view text) {
  if (text.empty() || text.size() > kMaxText) return true;
  for (;;) {
    text.remove_prefix(plain_length(text, kUnquoted));
    if (text.empty()) return false;
    const auto [c, size] = first_scalar(text);
    if (c < 0x80 || is_invisible(c) || c == 0xA0 || c == 0x3000) return true;
    text.remove_prefix(size);
  }
}

void append_quoted(std::string& out, std::string_view text, Escape style) {
  out += '"';
  append_escaped(out, text, style);
  out += '"';
}

struct PlainValue {
  std::string& out;
  void operator()(std::string_view text) const {
    if (needs_quotes(text)) {
      append_quoted(out, text, Escape::quoted);
    } else {
      out += text;
    }
  }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  template <class Number>
  void operator()(Number value) const {
    append_number(out, value);
  }
};

struct JsonValue {
  std::string& out;
  void operator()(std::string_view text) const { append_quoted(out, text, Escape::json); }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(double value) const {
    if (std::isfinite(value)) {
      append_number(out, value);
    } else {
      out += "null";
    }
  }
  template <class Integer>
  void operator()(Integer value) const {
    append_number(out, value);
  }
};

}  // namespace

void append_plain(std::string& out, const Event& event) {
  append_second(out, event.time, ' ');
  const std::string_view level = level_name(event.level);
  out.append(1 + kLevelWidth - level.size(), ' ').append(level).append(1, ' ');
  out.append(event.target).append(": ");
  append_escaped(out, event.message, Escape::message);
  for (const Field& field : event.fields) {
    out.append(1, ' ').append(field.key).append(1, '=');
    std::visit(PlainValue{out}, field.value);
  }
}

void append_json(std::string& out, const Event& event) {
  using namespace std::chrono;
  append_second(out.append(R"({"timestamp":")"), event.time, 'T');
  const auto since_second = event.time - floor<seconds>(event.time);
  const auto ms = duration_cast<milliseconds>(since_second).count();
  append_digits(out.append(1, '.'), static_cast<std::uint64_t>(ms), 3);
  out.append(R"(Z","level":")").append(level_name(event.level));
  append_quoted(out.append(R"(","target":)"), event.target, Escape::json);
  append_quoted(out.append(R"(,"message":)"), event.message, Escape::json);
  for (const Field& field : event.fields) {
    append_quoted(out.append(1, ','), field.key, Escape::json);
    std::visit(JsonValue{out.append(1, ':')}, field.value);
  }
  out += '}';
}

}  // namespace smg::log
