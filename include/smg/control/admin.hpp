// The admin API's operations. Every member may be called from any thread: those that change
// something return an awaitable that does its work on the control thread and resumes the caller on
// the caller's own; the others read published snapshots and return at once.
//
// A worker id in a path is a UUID: another text is 400 BAD_REQUEST, an unknown one 404
// WORKER_NOT_FOUND. After the control context has stopped, awaitables do not complete.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "smg/base/asio.hpp"
#include "smg/base/error.hpp"
#include "smg/control/reply.hpp"

namespace smg::control {

class Roster;
struct Deps;
struct WorkerRequest;

class Admin {
 public:
  Admin(Deps& deps, Roster& roster);

  // POST /workers: 202 and the worker's address at once; it is probed in the background.
  awaitable<Reply> create_worker(std::string body);
  // PUT /workers/{id}: a new spec for the same URL. PATCH: some of its fields.
  awaitable<Reply> replace_worker(std::string id, std::string body);
  awaitable<Reply> patch_worker(std::string id, std::string body);
  // DELETE /workers/{id}: a ready worker drains first.
  awaitable<Reply> remove_worker(std::string id);
  // POST /flush_cache: the engines' caches and the gateway's own indexes.
  awaitable<Reply> flush_cache();

  // `model` empty: all.
  Reply list_workers(std::string_view model) const;
  Reply get_worker(std::string_view id) const;
  Reply loads(std::string_view model) const;
  Reply models() const;
  Reply readiness() const;
  Reply liveness() const;

  // From now on not ready. Any thread.
  void set_draining() { draining_.store(true, std::memory_order_relaxed); }

 private:
  using Change = Result<WorkerRequest> (Admin::*)(const std::string& body, WorkerRequest) const;

  awaitable<Reply> on_control_thread(awaitable<Reply> operation);
  awaitable<Reply> create(std::string body);
  awaitable<Reply> change(std::string id, std::string body, Change make);
  awaitable<Reply> remove(std::string id);
  awaitable<Reply> flush();
  Result<WorkerRequest> replaced(const std::string& body, WorkerRequest current) const;
  Result<WorkerRequest> patched(const std::string& body, WorkerRequest current) const;

  Deps& deps_;
  Roster& roster_;
  std::atomic<bool> draining_{false};
};

}  // namespace smg::control
