// The coroutines of the control thread: every one is spawned here and counted. One thread.
#pragma once

#include <cstddef>
#include <functional>
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

  // Calls `idle` once, when no task is left: now, if there is none.
  void when_idle(std::function<void()> idle);
  std::size_t running() const { return running_; }

 private:
  void finished();

  asio::io_context& context_;
  std::size_t running_ = 0;
  std::function<void()> idle_;
};

}  // namespace smg::control
