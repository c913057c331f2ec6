#include "smg/control/reply.hpp"

#include <nlohmann/json.hpp>

namespace smg::control {

Reply worker_api_error(WorkerApiError kind, std::string_view message) {
  Reply reply;
  const char* code = "";
  switch (kind) {
    case WorkerApiError::bad_request:
      reply.status = 400;
      code = "BAD_REQUEST";
      reply.error_code = "bad_request";
      break;
    case WorkerApiError::not_found:
      reply.status = 404;
      code = "WORKER_NOT_FOUND";
      reply.error_code = "worker_not_found";
      break;
    case WorkerApiError::already_exists:
      reply.status = 409;
      code = "WORKER_ALREADY_EXISTS";
      reply.error_code = "worker_already_exists";
      break;
    case WorkerApiError::draining:
      reply.status = 409;
      code = "WORKER_DRAINING";
      reply.error_code = "worker_draining";
      break;
    case WorkerApiError::too_many:
      reply.status = 503;
      code = "TOO_MANY_WORKERS";
      reply.error_code = "too_many_workers";
      break;
  }
  nlohmann::ordered_json body;
  body["error"] = message;
  body["code"] = code;
  reply.body = body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return reply;
}

}  // namespace smg::control
