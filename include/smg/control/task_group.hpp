// The coroutines of the control thread: every one is spawned here and counted. One thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "smg/base/asio.hpp"

namespace smg::control {

class TaskGroup {
 public:
  explicit TaskGroup(asio::io_context& context) : context_(context) {}

  // Starts it in a later turn of the context. An exception that leaves a task ends the process.
  void spawn(awaitable<void> task);
  // Runs them side by side; returns when all have ended.
  awaitable<void> all(std::vector<awaitable<void>> tasks);

  // What every task keeps alive; set before the first spawn.
  void keep_alive(std::weak_ptr<void> owner) { owner_ = std::move(owner); }
  // Counts as a running task until it is destroyed: for work that was started elsewhere.
  class Hold {
   public:
    explicit Hold(TaskGroup& group) : group_(group) { ++group_.running_; }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() { group_.finished(); }

   private:
    TaskGroup& group_;
  };

  // Calls `idle` once, when no task is left: now, if there is none.
  void when_idle(std::function<void()> idle);

 private:
  void finished();

  asio::io_context& context_;
  std::size_t running_ = 0;
  std::function<void()> idle_;
  std::weak_ptr<void> owner_;
};

}  // namespace smg::control
