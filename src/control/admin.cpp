#include "smg/control/admin.hpp"

#include <boost/asio/co_spawn.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "smg/control/cache_flush.hpp"
#include "smg/control/roster.hpp"
#include "smg/control/worker_body.hpp"
#include "smg/control/worker_view.hpp"

namespace smg::control {

namespace {

using json = nlohmann::ordered_json;
using worker::WorkerStatus;

std::string dump(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

// 8-4-4-4-12 hex digits.
bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (dash ? c != '-' : !hex) return false;
  }
  return true;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

Reply bad_id(std::string_view id) {
  return worker_api_error(WorkerApiError::bad_request,
                          "Invalid worker_id '" + std::string(id) + "' (expected UUID)");
}

Reply not_found() {
  return worker_api_error(WorkerApiError::not_found, "Worker ID not found");
}

Reply accepted(const worker::Worker& worker, const char* message,
               const std::vector<std::string>& ignored) {
  json body;
  body["status"] = "accepted";
  body["worker_id"] = worker.uuid;
  body["url"] = worker.url();
  body["location"] = "/workers/" + worker.uuid;
  body["message"] = message;
  if (!ignored.empty()) body["ignored_fields"] = ignored;
  Reply reply;
  reply.status = 202;
  reply.body = dump(body);
  return reply;
}

// A task of its own on the control thread; the caller resumes on its own executor.
template <class Result>
awaitable<Result> lift(Result result) {
  co_return result;
}

}  // namespace

Admin::Admin(Deps& deps, Roster& roster) : deps_(deps), roster_(roster) {}

awaitable<Reply> Admin::create_worker(std::string body) {
  co_return co_await asio::co_spawn(deps_.context, run_create(std::move(body)), use_awaitable);
}

}  // namespace smg::control
