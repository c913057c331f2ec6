#include "smg/protocol/http_head.hpp"

#include <algorithm>
#include <cstring>

#include "char_class.hpp"
#include "field_section.hpp"

namespace smg::protocol {
namespace {

std::string_view find_field(const std::vector<HeaderField>& fields, std::string_view name) {
  for (const HeaderField& field : fields) {
    if (equals_folded(field.name, name)) return field.value;
  }
  return {};
}

std::string_view view(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

// `text` starts with a version, of whatever length.
HeadError parse_version(std::string_view text, int& minor_version) {
  if (text.size() < 8 || !text.starts_with("HTTP/") || !is_digit(text[5]) || text[6] != '.' ||
      !is_digit(text[7])) {
    return HeadError::bad_message;
  }
  if (text[5] != '1' || text[7] > '1') return HeadError::unsupported_version;
  minor_version = text[7] - '0';
  return HeadError::none;
}

// Sets target, path and query from what stands in the request line.
HeadError reduce_target(std::string_view target, RequestHead& out) {
  if (target.front() != '/' && target != "*") {
    const std::size_t scheme = target.find("://");
    if (scheme == target.npos) return HeadError::bad_message;
    if (!iequals(target.substr(0, scheme), "http") && !iequals(target.substr(0, scheme), "https")) {
      return HeadError::bad_message;
    }
    target.remove_prefix(scheme + 3);
    const std::size_t authority_size = std::min(target.find_first_of("/?"), target.size());
    const std::string_view authority = target.substr(0, authority_size);
    if (authority.empty() || !all_of_class(authority, kHostChar)) return HeadError::bad_message;
    target.remove_prefix(authority_size);
    if (target.empty()) target = out.method == "OPTIONS" ? "*" : "/";
    // A query on an empty path has no origin-form that is a part of the input.
    if (target.front() == '?') return HeadError::bad_message;
  }
  if (target == "*" && out.method != "OPTIONS") return HeadError::bad_message;
  const std::size_t mark = target.find('?');
  out.target = target;
  out.path = target.substr(0, mark);
  out.query = mark == target.npos ? std::string_view{} : target.substr(mark + 1);
  return HeadError::none;
}

// `head` ends in LF, which stops every loop here. Sets `line_size`, its CRLF included.
HeadError parse_request_line(std::string_view head, const HeadLimits& limits, RequestHead& out,
                             std::size_t& line_size) {
  const char* p = head.data();
  const char* const end = p + head.size();
  while (is_class(*p, kTokenChar)) ++p;
  out.method = view(head.data(), p);
  if (out.method.empty() || *p != ' ') return HeadError::bad_message;
  const char* const target_begin = ++p;
  while (is_class(*p, kTargetChar)) ++p;
  const std::string_view target = view(target_begin, p);
  if (target.empty()) return HeadError::bad_message;
  if (target.size() > limits.max_target) return HeadError::target_too_long;
  if (*p != ' ') return HeadError::bad_message;
  ++p;
  const std::string_view version = view(p, end);
  if (version.size() < 10 || version[8] != '\r' || version[9] != '\n') {
    return HeadError::bad_message;
  }
  if (const HeadError error = parse_version(version, out.minor_version); error != HeadError::none) {
    return error;
  }
  line_size = static_cast<std::size_t>(p + 10 - head.data());
  if (out.method == "CONNECT") return HeadError::bad_message;
  return reduce_target(target, out);
}

HeadError parse_status_line(std::string_view head, ResponseHead& out, std::size_t& line_size) {
  if (const HeadError error = parse_version(head, out.minor_version); error != HeadError::none) {
    return error;
  }
  if (head.size() < 14 || head[8] != ' ') return HeadError::bad_message;
  if (!is_digit(head[9]) || head[9] == '0' || !is_digit(head[10]) || !is_digit(head[11])) {
    return HeadError::bad_message;
  }
  out.status = (head[9] - '0') * 100 + (head[10] - '0') * 10 + (head[11] - '0');
  const char* const end = head.data() + head.size();
  const char* p = head.data() + 12;
  out.reason = {};
  if (*p == ' ') {
    ++p;
    const char* const reason = p;
    p = skip_value_chars(p, end);
    out.reason = trim_blanks(view(reason, p));
  }
  if (!view(p, end).starts_with("\r\n")) return HeadError::bad_message;
  line_size = static_cast<std::size_t>(p + 2 - head.data());
  return HeadError::none;
}

bool allows_keep_alive(const FieldSection& section, int minor_version) {
  return !section.close && (minor_version == 1 || section.keep_alive);
}

HeadError check_bounds(std::string_view head, const HeadLimits& limits) {
  if (head.size() > limits.max_bytes) return HeadError::headers_too_large;
  return head.ends_with("\r\n\r\n") ? HeadError::none : HeadError::bad_message;
}

}  // namespace

const char* to_string(HeadError error) {
  switch (error) {
    case HeadError::none:
      return "none";
    case HeadError::bad_message:
      return "bad_message";
    case HeadError::headers_too_large:
      return "headers_too_large";
    case HeadError::target_too_long:
      return "target_too_long";
    case HeadError::unsupported_version:
      return "unsupported_version";
    case HeadError::bad_transfer_coding:
      return "bad_transfer_coding";
  }
  return "unknown";
}

std::size_t HeadScanner::scan(std::string_view buffer, const HeadLimits& limits) {
  if (error_ != HeadError::none) return 0;
  const auto fail = [this](HeadError error) {
    error_ = error;
    return std::size_t{0};
  };
  // What cannot be a start line (a TLS handshake, say) need not wait for an LF that never comes.
  if (seen_ == 0 && !buffer.empty() && buffer[0] != '\r' && !is_class(buffer[0], kTokenChar)) {
    return fail(HeadError::bad_message);
  }
  const std::string_view window = buffer.substr(0, limits.max_bytes);
  while (seen_ < window.size()) {
    const void* const found = std::memchr(window.data() + seen_, '\n', window.size() - seen_);
    if (found == nullptr) {
      seen_ = window.size();
      break;
    }
    const auto lf = static_cast<std::size_t>(static_cast<const char*>(found) - window.data());
    if (lf == line_start_ || window[lf - 1] != '\r') return fail(HeadError::bad_message);
    const bool empty_line = lf == line_start_ + 1;
    seen_ = lf + 1;
    line_start_ = seen_;
    if (!empty_line) {
      start_line_seen_ = true;
    } else if (start_line_seen_) {
      return seen_;
    } else if (lf != 1) {
      return fail(HeadError::bad_message);
    }
  }
  if (window.size() < limits.max_bytes) return 0;
  return fail(start_line_seen_ ? HeadError::headers_too_large : HeadError::target_too_long);
}

std::string_view RequestHead::field(std::string_view name) const {
  return find_field(fields, name);
}

std::string_view ResponseHead::field(std::string_view name) const {
  return find_field(fields, name);
}

HeadError parse_request_head(std::string_view head, const HeadLimits& limits, RequestHead& out) {
  out.fields.clear();
  if (const HeadError error = check_bounds(head, limits); error != HeadError::none) return error;
  if (head.starts_with("\r\n")) head.remove_prefix(2);
  std::size_t line_size = 0;
  if (const HeadError error = parse_request_line(head, limits, out, line_size);
      error != HeadError::none) {
    return error;
  }
  head.remove_prefix(line_size);
  FieldSection section;
  if (const HeadError error = parse_field_section(head, limits, out.fields, section);
      error != HeadError::none) {
    return error;
  }
  const bool old = out.minor_version == 0;
  if (section.hosts > 1 || (section.hosts == 0 && !old)) return HeadError::bad_message;
  if (section.chunked && old) return HeadError::bad_message;
  out.framing = section.chunked              ? Framing::chunked
                : section.has_content_length ? Framing::length
                                             : Framing::none;
  out.content_length = section.content_length;
  out.keep_alive = allows_keep_alive(section, out.minor_version);
  out.expect_continue =
      section.expect_continue && !old && (section.chunked || section.content_length > 0);
  return HeadError::none;
}

HeadError parse_response_head(std::string_view head, const HeadLimits& limits, bool head_request,
                              ResponseHead& out) {
  out.fields.clear();
  if (const HeadError error = check_bounds(head, limits); error != HeadError::none) return error;
  std::size_t line_size = 0;
  if (const HeadError error = parse_status_line(head, out, line_size); error != HeadError::none) {
    return error;
  }
  head.remove_prefix(line_size);
  FieldSection section;
  if (const HeadError error = parse_field_section(head, limits, out.fields, section);
      error != HeadError::none) {
    return error;
  }
  if (out.status == 101) return HeadError::bad_message;
  if (section.chunked && out.minor_version == 0) return HeadError::bad_message;
  const bool never_a_body = out.status < 200 || out.status == 204;
  out.content_length = section.content_length;
  out.keep_alive = allows_keep_alive(section, out.minor_version);
  if (never_a_body || head_request || out.status == 304) {
    out.framing = Framing::none;
    // Such an answer must not announce a body; should one follow, it is not to be read as the next.
    if (never_a_body && (section.chunked || section.content_length > 0)) out.keep_alive = false;
  } else if (section.chunked) {
    out.framing = Framing::chunked;
  } else if (section.has_content_length) {
    out.framing = Framing::length;
  } else {
    out.framing = Framing::until_close;
    out.keep_alive = false;
  }
  return HeadError::none;
}

bool iequals(std::string_view a, std::string_view b) { return equals_folded(a, b); }

bool has_token(std::string_view value, std::string_view token) {
  for (;;) {
    const std::size_t comma = value.find(',');
    if (equals_folded(trim_blanks(value.substr(0, comma)), token)) return true;
    if (comma == value.npos) return false;
    value.remove_prefix(comma + 1);
  }
}

bool is_token(std::string_view text) { return !text.empty() && all_of_class(text, kTokenChar); }

}  // namespace smg::protocol
