#include "field_section.hpp"

#include <limits>

#include "char_class.hpp"

namespace smg::protocol {
namespace {

// Every field is compared with every connection option when a message is forwarded; the bound keeps
// that cheap. Real ones are a few dozen bytes.
constexpr std::size_t kMaxConnectionBytes = 1024;

HeadError note_content_length(std::string_view value, FieldSection& out) {
  if (out.has_content_length || value.empty()) return HeadError::bad_message;
  constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t length = 0;
  for (const char c : value) {
    if (!is_digit(c)) return HeadError::bad_message;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (length > (limit - digit) / 10) return HeadError::bad_message;
    length = length * 10 + digit;
  }
  out.content_length = length;
  out.has_content_length = true;
  return HeadError::none;
}

// Tells a list that is sound but needs a coding we do not speak ("gzip, chunked") from one that
// leaves the end of the body open.
HeadError judge_transfer_codings(std::string_view value) {
  for (;;) {
    const std::size_t comma = value.find(',');
    const std::string_view coding = trim_blanks(value.substr(0, comma));
    if (!is_token(coding)) return HeadError::bad_message;
    const bool last = comma == value.npos;
    if (iequals(coding, "chunked") != last) return HeadError::bad_message;
    if (last) return HeadError::bad_transfer_coding;
    value.remove_prefix(comma + 1);
  }
}

HeadError note_transfer_encoding(std::string_view value, FieldSection& out) {
  if (out.chunked) return HeadError::bad_message;
  if (!iequals(value, "chunked")) return judge_transfer_codings(value);
  out.chunked = true;
  return HeadError::none;
}

HeadError note_connection(std::string_view value, FieldSection& out) {
  if (value.size() > kMaxConnectionBytes - out.connection_bytes) {
    return HeadError::headers_too_large;
  }
  out.connection_bytes += static_cast<std::uint32_t>(value.size());
  out.close = out.close || has_token(value, "close");
  out.keep_alive = out.keep_alive || has_token(value, "keep-alive");
  return HeadError::none;
}

HeadError note_field(const HeaderField& field, FieldSection& out) {
  switch (field.name.size()) {
    case 4:
      if (!equals_folded(field.name, "host")) break;
      ++out.hosts;
      if (!all_of_class(field.value, kHostChar)) return HeadError::bad_message;
      break;
    case 6:
      if (!equals_folded(field.name, "expect")) break;
      out.expect_continue = out.expect_continue || has_token(field.value, "100-continue");
      break;
    case 10:
      if (equals_folded(field.name, "connection")) return note_connection(field.value, out);
      break;
    case 14:
      if (equals_folded(field.name, "content-length")) return note_content_length(field.value, out);
      break;
    case 17:
      if (equals_folded(field.name, "transfer-encoding"))
        return note_transfer_encoding(field.value, out);
      break;
    default:
      break;
  }
  return HeadError::none;
}

std::string_view view(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

HeadError parse_field_section(std::string_view text, const HeadLimits& limits,
                              std::vector<HeaderField>& fields, FieldSection& out) {
  // The final LF is no token and no blank: loops over those need no bound.
  if (!text.ends_with("\r\n")) return HeadError::bad_message;
  const char* p = text.data();
  const char* const end = p + text.size();
  while (*p != '\r') {
    const char* const name = p;
    while (is_class(*p, kTokenChar)) ++p;
    // Also refuses a folded line, which starts with a blank.
    if (p == name || *p != ':') return HeadError::bad_message;
    const std::string_view name_view = view(name, p);
    ++p;
    while (is_blank(*p)) ++p;
    const char* const value = p;
    p = skip_value_chars(p, end);
    if (end - p < 2 || p[0] != '\r' || p[1] != '\n') return HeadError::bad_message;
    const char* value_end = p;
    while (value_end != value && is_blank(value_end[-1])) --value_end;
    p += 2;
    if (p == end) return HeadError::bad_message;
    if (fields.size() == limits.max_fields) return HeadError::headers_too_large;
    fields.push_back({name_view, view(value, value_end)});
    if (const HeadError error = note_field(fields.back(), out); error != HeadError::none) {
      return error;
    }
  }
  if (end - p != 2) return HeadError::bad_message;
  return out.chunked && out.has_content_length ? HeadError::bad_message : HeadError::none;
}

}  // namespace smg::protocol
