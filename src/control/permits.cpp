#include "smg/control/permits.hpp"

#include <algorithm>

namespace smg::control {

awaitable<std::optional<Permits::Permit>> Permits::acquire(Lifetime& life) {
  if (life.ended()) co_return std::nullopt;
  if (free_ > 0) {
    --free_;
    co_return Permit(*this);
  }
  Waiter waiter(context_);
  waiting_.push_back(&waiter);
  const Woken woken = co_await waiter.pulse.wait(life, kForever);
  if (!waiter.granted) {
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), &waiter));
    co_return std::nullopt;
  }
  Permit permit(*this);
  if (woken == Woken::ended) co_return std::nullopt;
  co_return std::move(permit);
}

void Permits::release() {
  if (waiting_.empty()) {
    ++free_;
    return;
  }
  Waiter& next = *waiting_.front();
  waiting_.pop_front();
  next.granted = true;
  next.pulse.notify();
}

}  // namespace smg::control
