#include "smg/control/cache_flush.hpp"

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "smg/control/permits.hpp"

namespace smg::control {

namespace {

using json = nlohmann::ordered_json;

struct Flush {
  std::shared_ptr<const worker::Worker> worker;
  std::string error = "canceled";  // empty: flushed
};

awaitable<void> flush_one(Deps& deps, Lifetime& life, Permits& permits, Flush& flush) {
  const auto permit = co_await permits.acquire(life);
  if (!permit) co_return;
  upstream::FetchRequest request = request_to(*flush.worker, "/flush_cache");
  request.method = "POST";
  request.timeout = kFlushTimeout;
  const FetchResult result = co_await deps.fetch(life, std::move(request));
  if (!result) {
    flush.error = result.error().detail;
  } else if (result->status < 200 || result->status >= 300) {
    flush.error = "HTTP " + std::to_string(result->status);
  } else {
    flush.error.clear();
  }
}

Reply flush_reply(const std::vector<Flush>& flushes) {
  json successful = json::array();
  json failed = json::array();
  for (const Flush& flush : flushes) {
    if (flush.error.empty()) {
      successful.push_back(flush.worker->url());
      continue;
    }
    json entry;
    entry["worker"] = flush.worker->url();
    entry["error"] = flush.error;
    failed.push_back(std::move(entry));
  }
  const std::size_t total = flushes.size();
  const std::size_t flushed = successful.size();
  std::string message = "Successfully flushed cache on all " + std::to_string(total) + " workers";
  if (total == 0) message = "No workers available for cache flush";
  if (!failed.empty()) {
    message = "Cache flush: " + std::to_string(flushed) + " succeeded, " +
              std::to_string(failed.size()) + " failed";
  }
  json body;
  body["status"] = failed.empty() ? "success" : "partial_success";
  body["message"] = std::move(message);
  body["workers_flushed"] = flushed;
  body["total_http_workers"] = total;
  body["total_grpc_workers"] = 0;
  body["total_zmq_workers_skipped"] = 0;
  body["total_workers"] = total;
  Reply reply;
  reply.status = failed.empty() ? 200 : 206;
  if (!failed.empty()) {
    body["successful"] = std::move(successful);
    body["failed"] = std::move(failed);
  }
  reply.body = body.dump(-1, ' ', false, json::error_handler_t::replace);
  return reply;
}

}  // namespace

awaitable<Reply> flush_caches(Deps& deps, Lifetime& life) {
  Permits permits(deps.context, kMaxFlushes);
  std::vector<Flush> flushes;
  const auto workers = deps.registry.workers().load();
  flushes.reserve(workers->size());
  std::vector<awaitable<void>> tasks;
  for (const worker::WorkerId id : workers->any().workers) {
    Flush& flush = flushes.emplace_back();
    flush.worker = workers->at(id);
    tasks.push_back(flush_one(deps, life, permits, flush));
  }
  co_await deps.tasks.all(std::move(tasks));
  deps.indexes.clear();
  co_return flush_reply(flushes);
}

}  // namespace smg::control
