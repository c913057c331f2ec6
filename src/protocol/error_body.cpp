#include "smg/protocol/error_body.hpp"

#include <cstddef>

namespace smg::protocol {
namespace {

struct Description {
  int status;
  std::string_view name;
};

constexpr Description describe(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_json:
      return {400, "invalid_json"};
    case ErrorCode::invalid_request:
      return {400, "invalid_request"};
    case ErrorCode::invalid_api_key:
      return {401, "invalid_api_key"};
    case ErrorCode::admin_forbidden:
      return {403, "admin_forbidden"};
    case ErrorCode::model_not_found:
      return {404, "model_not_found"};
    case ErrorCode::route_not_found:
      return {404, "route_not_found"};
    case ErrorCode::method_not_allowed:
      return {405, "method_not_allowed"};
    case ErrorCode::request_timeout:
      return {408, "request_timeout"};
    case ErrorCode::request_body_too_large:
      return {413, "request_body_too_large"};
    case ErrorCode::uri_too_long:
      return {414, "uri_too_long"};
    case ErrorCode::unsupported_media_type:
      return {415, "unsupported_media_type"};
    case ErrorCode::admission_queue_full:
      return {429, "admission_queue_full"};
    case ErrorCode::headers_too_large:
      return {431, "headers_too_large"};
    case ErrorCode::not_implemented:
      return {501, "not_implemented"};
    case ErrorCode::upstream_connect_failed:
      return {502, "upstream_connect_failed"};
    case ErrorCode::upstream_closed:
      return {502, "upstream_closed"};
    case ErrorCode::upstream_bad_response:
      return {502, "upstream_bad_response"};
    case ErrorCode::admission_queue_timeout:
      return {503, "admission_queue_timeout"};
    case ErrorCode::no_available_workers:
      return {503, "no_available_workers"};
    case ErrorCode::worker_overload_protection_shed:
      return {503, "worker_overload_protection_shed"};
    case ErrorCode::upstream_timeout:
      return {504, "upstream_timeout"};
    case ErrorCode::http_version_not_supported:
      return {505, "http_version_not_supported"};
  }
  return {500, "internal_error"};
}

std::string_view openai_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    default:
      return status < 500 ? "invalid_request_error" : "server_error";
  }
}

std::string_view anthropic_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 503:
      return "overloaded_error";
    default:
      return status < 500 ? "invalid_request_error" : "api_error";
  }
}

void append_string(std::string& out, std::string_view text) {
  out.push_back('"');
  append_json_escaped(out, text);
  out.push_back('"');
}

// Bytes of the UTF-8 sequence (RFC 3629) at the start of `text`; 0 if there is none.
std::size_t utf8_size(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xc2 && first <= 0xdf   ? 2
                           : first >= 0xe0 && first <= 0xef ? 3
                           : first >= 0xf0 && first <= 0xf4 ? 4
                                                            : 0;
  if (size == 0 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and what lies above U+10FFFF show in the second byte.
  const unsigned char second = byte(1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) {
    return 0;
  }
  return size;
}

void append_escaped_ascii(std::string& out, char c) {
  static constexpr std::string_view hex = "0123456789abcdef";
  switch (c) {
    case '"':
      out.append("\\\"");
      return;
    case '\\':
      out.append("\\\\");
      return;
    case '\b':
      out.append("\\b");
      return;
    case '\f':
      out.append("\\f");
      return;
    case '\n':
      out.append("\\n");
      return;
    case '\r':
      out.append("\\r");
      return;
    case '\t':
      out.append("\\t");
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20 && byte != 0x7f) {
    out.push_back(c);
    return;
  }
  out.append("\\u00");
  out.push_back(hex[byte >> 4]);
  out.push_back(hex[byte & 15]);
}

}  // namespace

int status_of(ErrorCode code) { return describe(code).status; }

std::string_view name_of(ErrorCode code) { return describe(code).name; }

ErrorShape shape_of_path(std::string_view path) {
  constexpr std::string_view messages = "/v1/messages";
  const bool below = path.starts_with(messages) &&
                     (path.size() == messages.size() || path[messages.size()] == '/');
  return below ? ErrorShape::anthropic : ErrorShape::openai;
}

std::string error_body(ErrorCode code, std::string_view message, ErrorShape shape,
                       std::string_view param) {
  const Description description = describe(code);
  std::string out;
  out.reserve(128 + message.size() + param.size());
  if (shape == ErrorShape::anthropic) {
    out.append(R"({"type":"error","error":{"type":)");
    append_string(out, anthropic_type(description.status));
    out.append(R"(,"message":)");
    append_string(out, message);
  } else {
    out.append(R"({"error":{"message":)");
    append_string(out, message);
    out.append(R"(,"type":)");
    append_string(out, openai_type(description.status));
    out.append(R"(,"param":)");
    if (param.empty()) {
      out.append("null");
    } else {
      append_string(out, param);
    }
    out.append(R"(,"code":)");
    append_string(out, description.name);
  }
  out.append("}}");
  return out;
}

void append_json_escaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = utf8_size(text);
    if (size == 1) {
      append_escaped_ascii(out, text.front());
    } else if (size > 1) {
      out.append(text.substr(0, size));
    } else {
      out.append("\xef\xbf\xbd");
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
}

}  // namespace smg::protocol
