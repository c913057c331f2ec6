#include "smg/control/task_group.hpp"

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <memory>
#include <utility>

#include "smg/base/event.hpp"

namespace smg::control {

namespace {

struct Join {
  std::size_t left = 0;
  Event done;
};

awaitable<void> joined(awaitable<void> task, std::shared_ptr<Join> join) {
  co_await std::move(task);
  if (--join->left == 0) join->done.notify();
}

}  // namespace

void TaskGroup::spawn(awaitable<void> task) {
  ++running_;
  asio::co_spawn(context_, std::move(task),
                 [this, owner = owner_.lock()](std::exception_ptr error) {
                   if (error) std::rethrow_exception(error);
                   finished();
                 });
}

awaitable<void> TaskGroup::all(std::vector<awaitable<void>> tasks) {
  if (tasks.empty()) co_return;
  auto join = std::make_shared<Join>();
  join->left = tasks.size();
  for (awaitable<void>& task : tasks) spawn(joined(std::move(task), join));
  co_await join->done.wait();
}

void TaskGroup::when_idle(std::function<void()> idle) {
  idle_ = std::move(idle);
  ++running_;
  finished();
}

void TaskGroup::finished() {
  if (--running_ > 0 || !idle_) return;
  std::exchange(idle_, nullptr)();
}

}  // namespace smg::control
