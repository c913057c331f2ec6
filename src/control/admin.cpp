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

Reply not_found() { return worker_api_error(WorkerApiError::not_found, "Worker ID not found"); }

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

Reply shutting_down() {
  Reply reply;
  reply.status = protocol::status_of(protocol::ErrorCode::no_available_workers);
  reply.body = "the gateway is shutting down";
  reply.error = protocol::ErrorCode::no_available_workers;
  return reply;
}

}  // namespace

Admin::Admin(Deps& deps, Roster& roster) : deps_(deps), roster_(roster) {}

// The hop: the operation runs as a task of the control thread, and whoever awaits it resumes on the
// executor that it came from.
awaitable<Reply> Admin::on_control_thread(awaitable<Reply> operation) {
  if (deps_.stopping.load(std::memory_order_relaxed)) co_return shutting_down();
  co_return co_await asio::co_spawn(deps_.context, std::move(operation), use_awaitable);
}

awaitable<Reply> Admin::create_worker(std::string body) {
  return on_control_thread(create(std::move(body)));
}

awaitable<Reply> Admin::replace_worker(std::string id, std::string body) {
  return on_control_thread(change(std::move(id), std::move(body), &Admin::replaced));
}

awaitable<Reply> Admin::patch_worker(std::string id, std::string body) {
  return on_control_thread(change(std::move(id), std::move(body), &Admin::patched));
}

awaitable<Reply> Admin::remove_worker(std::string id) {
  return on_control_thread(remove(std::move(id)));
}

awaitable<Reply> Admin::flush_cache() { return on_control_thread(flush()); }

awaitable<Reply> Admin::create(std::string body) {
  const TaskGroup::Hold hold(deps_.tasks);
  Result<WorkerRequest> request = parse_worker_request(body, deps_.options);
  if (!request) co_return worker_api_error(WorkerApiError::bad_request, request.error().detail);
  const std::string url = request->spec.url.text;
  if (const auto present = deps_.registry.workers().load()->find_url(url)) {
    if (present->status() == WorkerStatus::draining) {
      co_return worker_api_error(WorkerApiError::draining,
                                 "Worker " + url + " is being removed, try again when it is gone");
    }
    co_return worker_api_error(
        WorkerApiError::already_exists,
        "Worker " + url + " already exists, see GET /workers/" + present->uuid);
  }
  const std::vector<std::string> ignored = std::move(request->ignored);
  const auto added = roster_.add(std::move(*request));
  if (!added) co_return worker_api_error(WorkerApiError::too_many, added.error().detail);
  Reply reply = accepted(**added, "Worker addition queued for background processing", ignored);
  reply.headers.emplace_back("location", "/workers/" + (*added)->uuid);
  co_return reply;
}

Result<WorkerRequest> Admin::replaced(const std::string& body, WorkerRequest current) const {
  Result<WorkerRequest> next = parse_worker_request(body, deps_.options);
  if (next && next->spec.url.text != current.spec.url.text) {
    return Error{Errc::invalid_argument, Side::downstream, Retry::never,
                 "URL mismatch: the worker's is " + current.spec.url.text};
  }
  return next;
}

Result<WorkerRequest> Admin::patched(const std::string& body, WorkerRequest current) const {
  return patch_worker_request(body, std::move(current), deps_.options);
}

awaitable<Reply> Admin::change(std::string id, std::string body, Change make) {
  const TaskGroup::Hold hold(deps_.tasks);
  if (!is_uuid(id)) co_return bad_id(id);
  id = lower(id);
  const auto worker = deps_.registry.workers().load()->find_uuid(id);
  if (!worker) co_return not_found();
  std::optional<WorkerRequest> current = roster_.current(id);
  if (!current) {
    co_return worker_api_error(WorkerApiError::draining, "Worker is being removed");
  }
  Result<WorkerRequest> next = (this->*make)(body, std::move(*current));
  if (!next) co_return worker_api_error(WorkerApiError::bad_request, next.error().detail);
  const std::vector<std::string> ignored = std::move(next->ignored);
  const Result<> done = roster_.replace(id, std::move(*next));
  if (!done) co_return worker_api_error(WorkerApiError::bad_request, done.error().detail);
  co_return accepted(*worker, "Worker update queued for background processing", ignored);
}

awaitable<Reply> Admin::remove(std::string id) {
  const TaskGroup::Hold hold(deps_.tasks);
  if (!is_uuid(id)) co_return bad_id(id);
  id = lower(id);
  const auto worker = deps_.registry.workers().load()->find_uuid(id);
  if (!worker) co_return not_found();
  roster_.remove(id);
  co_return accepted(*worker, "Worker removal queued for background processing", {});
}

awaitable<Reply> Admin::flush() {
  const TaskGroup::Hold hold(deps_.tasks);
  Reply reply = co_await flush_caches(deps_, roster_.life());
  co_return reply;
}

Reply Admin::list_workers(std::string_view model) const {
  const auto workers = deps_.registry.workers().load();
  const auto loads = deps_.load_table.load();
  const FleetView view{*workers, deps_.fleet, *loads};
  Reply reply;
  reply.body = workers_json(view, model);
  return reply;
}

Reply Admin::get_worker(std::string_view id) const {
  if (!is_uuid(id)) return bad_id(id);
  const auto workers = deps_.registry.workers().load();
  const auto worker = workers->find_uuid(lower(id));
  if (!worker) return not_found();
  const auto loads = deps_.load_table.load();
  const FleetView view{*workers, deps_.fleet, *loads};
  Reply reply;
  reply.body = worker_json(view, *worker);
  return reply;
}

Reply Admin::loads(std::string_view model) const {
  const auto workers = deps_.registry.workers().load();
  const auto table = deps_.load_table.load();
  const FleetView view{*workers, deps_.fleet, *table};
  Reply reply;
  reply.body = loads_json(view, model, rfc3339_now());
  return reply;
}

Reply Admin::models() const {
  const auto workers = deps_.registry.workers().load();
  Reply reply;
  if (workers->empty()) {
    reply.status = protocol::status_of(protocol::ErrorCode::no_available_workers);
    reply.error = protocol::ErrorCode::no_available_workers;
    reply.body = "No models available: no worker is registered";
    return reply;
  }
  reply.body = models_json(*workers);
  return reply;
}

Reply Admin::readiness() const {
  const auto workers = deps_.registry.workers().load();
  std::size_t healthy = 0;
  for (const worker::WorkerId id : workers->any().workers) {
    if (workers->at(id)->status() == WorkerStatus::ready) ++healthy;
  }
  const bool draining = draining_.load(std::memory_order_relaxed);
  Reply reply;
  json body;
  if (draining || healthy == 0) {
    reply.status = 503;
    body["status"] = "not ready";
    body["reason"] = draining ? "draining" : "insufficient healthy workers";
  } else {
    body["status"] = "ready";
    body["healthy_workers"] = healthy;
    body["total_workers"] = workers->size();
  }
  reply.body = dump(body);
  return reply;
}

Reply Admin::liveness() const {
  Reply reply;
  reply.content_type = "text/plain; charset=utf-8";
  reply.body = "OK";
  return reply;
}

}  // namespace smg::control
