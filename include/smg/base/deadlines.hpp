// Coarse deadlines of one thread: arming and disarming are O(1) and cost no system call. A deadline
// fires at most two ticks (200 ms) late and never early. Nothing ticks while none is armed.
#pragma once

#include <array>
#include <boost/asio/steady_timer.hpp>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstdint>

#include "smg/base/asio.hpp"
#include "smg/base/clock.hpp"

namespace smg {

class Deadlines;

// Disarms itself when destroyed. on_deadline runs on the owner's thread and may arm again.
class Deadline : public boost::intrusive::list_base_hook<
                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  virtual ~Deadline() = default;
  virtual void on_deadline() = 0;
  bool armed() const { return is_linked(); }
  void disarm() { unlink(); }

 private:
  friend class Deadlines;
  std::uint64_t tick_ = 0;
};

class Deadlines {
 public:
  explicit Deadlines(asio::io_context& context);

  // Replaces an earlier arming.
  void arm(Deadline& deadline, std::chrono::milliseconds after);

  static constexpr std::chrono::milliseconds kTick{100};

 private:
  void start();
  void on_tick();
  std::uint64_t now_tick() const;

  static constexpr std::size_t kSlots = 512;
  using List = boost::intrusive::list<Deadline, boost::intrusive::constant_time_size<false>>;
  asio::steady_timer timer_;
  TimePoint start_;
  std::uint64_t current_ = 0;  // ticks that have been served
  std::array<List, kSlots> slots_;
  bool ticking_ = false;
};

}  // namespace smg
