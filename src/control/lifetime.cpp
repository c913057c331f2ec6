#include "smg/control/lifetime.hpp"

#include <boost/asio/redirect_error.hpp>

namespace smg::control {

void Pulse::notify() {
  set_ = true;
  timer_.cancel();
}

awaitable<Woken> Pulse::wait(Lifetime& life, std::chrono::milliseconds timeout) {
  if (!life.ended() && !set_) {
    if (timeout == kForever) {
      timer_.expires_at(asio::steady_timer::time_point::max());
    } else {
      timer_.expires_after(timeout);
    }
    life.waiting_.push_back(*this);
    boost::system::error_code ignored;
    co_await timer_.async_wait(asio::redirect_error(use_awaitable, ignored));
    unlink();
  }
  if (life.ended()) co_return Woken::ended;
  if (!set_) co_return Woken::timeout;
  set_ = false;
  co_return Woken::notified;
}

void Lifetime::end() {
  ended_ = true;
  for (Pulse& pulse : waiting_) pulse.timer_.cancel();
}

}  // namespace smg::control
