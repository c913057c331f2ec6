// The answer of an admin operation, independent of the HTTP server that sends it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smg/protocol/error_body.hpp"

namespace smg::control {

struct Reply {
  int status = 200;
  std::string body;
  std::string_view content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  // Of an error in the worker API's own shape: the value of x-smg-error-code. Static storage.
  std::string_view error_code;
  // Set: an error in the shape of the caller's API; `body` is its message.
  std::optional<protocol::ErrorCode> error;
};

// {"error": message, "code": CODE} with the status that belongs to the code.
enum class WorkerApiError : std::uint8_t {
  bad_request,     // 400
  not_found,       // 404
  already_exists,  // 409
  draining,        // 409
  too_many,        // 503
};
Reply worker_api_error(WorkerApiError kind, std::string_view message);

}  // namespace smg::control
