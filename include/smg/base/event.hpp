// A latch between callbacks and one waiting coroutine of the same thread.
#pragma once

#include <boost/asio/async_result.hpp>
#include <optional>
#include <utility>

#include "smg/base/asio.hpp"

namespace smg {

class Event {
 public:
  // Returns at once if notified since the last wait. At most one coroutine waits at a time.
  awaitable<void> wait() {
    if (!set_) {
      co_await asio::async_initiate<const asio::use_awaitable_t<>&, void()>(
          [this](Handler handler) { waiter_.emplace(std::move(handler)); }, use_awaitable);
    }
    set_ = false;
  }

  // Resumes the waiter before it returns: the last thing a callback does.
  void notify() {
    set_ = true;
    if (!waiter_) return;
    Handler handler = std::move(*waiter_);
    waiter_.reset();
    std::move(handler)();
  }

  void clear() { set_ = false; }

 private:
  using Handler = asio::async_result<asio::use_awaitable_t<>, void()>::handler_type;
  std::optional<Handler> waiter_;
  bool set_ = false;
};

}  // namespace smg
