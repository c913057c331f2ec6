// Waiting that can be ended: every suspension of a control loop goes through a Pulse, and ending
// the Lifetime it waits in resumes it at once. One thread.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstdint>

#include "smg/base/asio.hpp"

namespace smg::control {

enum class Woken : std::uint8_t { notified, timeout, ended };

inline constexpr std::chrono::milliseconds kForever = std::chrono::milliseconds::max();

class Lifetime;

// A latch that one coroutine at a time waits for. Destroyed only after its wait has returned.
class Pulse : public boost::intrusive::list_base_hook<
                  boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  explicit Pulse(asio::io_context& context) : timer_(context) {}

  // Ends the wait, or the next one if nobody waits. The waiter resumes later, not in this call.
  void notify();
  // Returns when notified since the last wait, when `timeout` is over or when `life` has ended.
  awaitable<Woken> wait(Lifetime& life, std::chrono::milliseconds timeout);

 private:
  friend class Lifetime;
  asio::steady_timer timer_;
  bool set_ = false;
};

class Lifetime {
 public:
  Lifetime() = default;
  Lifetime(const Lifetime&) = delete;
  Lifetime& operator=(const Lifetime&) = delete;

  bool ended() const { return ended_; }
  void end();

 private:
  friend class Pulse;
  boost::intrusive::list<Pulse, boost::intrusive::constant_time_size<false>> waiting_;
  bool ended_ = false;
};

}  // namespace smg::control
