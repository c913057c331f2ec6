// Errors that the gateway itself answers, in the shape of the caller's API. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace smg::protocol {

enum class ErrorCode : std::uint8_t {
  invalid_json,                     // 400
  invalid_request,                  // 400
  invalid_api_key,                  // 401
  admin_forbidden,                  // 403
  model_not_found,                  // 404
  route_not_found,                  // 404
  method_not_allowed,               // 405
  request_timeout,                  // 408
  request_body_too_large,           // 413
  uri_too_long,                     // 414
  unsupported_media_type,           // 415
  admission_queue_full,             // 429
  headers_too_large,                // 431
  not_implemented,                  // 501
  upstream_connect_failed,          // 502
  upstream_closed,                  // 502
  upstream_bad_response,            // 502
  admission_queue_timeout,          // 503
  no_available_workers,             // 503
  worker_overload_protection_shed,  // 503
  upstream_timeout,                 // 504
  http_version_not_supported,       // 505
};
inline constexpr std::size_t kErrorCodes =
    static_cast<std::size_t>(ErrorCode::http_version_not_supported) + 1;

int status_of(ErrorCode code);
std::string_view name_of(ErrorCode code);  // the value of `code` and of x-smg-error-code

// OpenAI: {"error":{"message","type","param","code"}}; Anthropic:
// {"type":"error","error":{"type","message"}}.
enum class ErrorShape : std::uint8_t { openai, anthropic };
ErrorShape shape_of_path(std::string_view path);  // anthropic for /v1/messages and below

// `message` may hold any bytes; it is escaped. `param` names the offending field, empty: null.
// OpenAI `type` is invalid_request_error, authentication_error, permission_error, not_found_error,
// rate_limit_error or server_error, by status; Anthropic `type` is its API's name for the status
// (also request_too_large, api_error, overloaded_error) and `param` is not said.
std::string error_body(ErrorCode code, std::string_view message, ErrorShape shape,
                       std::string_view param = {});

// Appends `text` as the inside of a JSON string; each byte that is not UTF-8 becomes U+FFFD.
void append_json_escaped(std::string& out, std::string_view text);

}  // namespace smg::protocol
