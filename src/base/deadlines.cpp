#include "smg/base/deadlines.hpp"

#include <algorithm>

namespace smg {

Deadlines::Deadlines(asio::io_context& context) : timer_(context), start_(Clock::now()) {}

std::uint64_t Deadlines::now_tick() const {
  return static_cast<std::uint64_t>((Clock::now() - start_) / kTick);
}

void Deadlines::arm(Deadline& deadline, std::chrono::milliseconds after) {
  deadline.disarm();
  if (!ticking_) current_ = now_tick();
  const auto ticks = static_cast<std::uint64_t>(std::max<std::int64_t>(after / kTick, 0));
  // One more than the whole ticks: the current one has partly passed.
  deadline.tick_ = std::max(current_, now_tick()) + ticks + 1;
  slots_[deadline.tick_ % kSlots].push_back(deadline);
  if (!ticking_) start();
}

void Deadlines::start() {
  ticking_ = true;
  timer_.expires_after(kTick);
  timer_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) on_tick();
  });
}

void Deadlines::on_tick() {
  const std::uint64_t now = now_tick();
  // After a long stall each slot is visited once: a slot holds every tick that is equal modulo
  // kSlots, and whatever in it is due fires.
  const std::uint64_t first = now - current_ > kSlots ? now - kSlots : current_;
  List due;
  for (std::uint64_t tick = first + 1; tick <= now; ++tick) {
    List& slot = slots_[tick % kSlots];
    for (auto it = slot.begin(); it != slot.end();) {
      Deadline& deadline = *it++;
      if (deadline.tick_ <= now) {
        deadline.disarm();
        due.push_back(deadline);
      }
    }
  }
  current_ = now;
  while (!due.empty()) {
    Deadline& deadline = due.front();
    deadline.disarm();
    deadline.on_deadline();  // may arm or destroy others, also ones in `due`
  }
  const bool any =
      std::any_of(slots_.begin(), slots_.end(), [](const List& l) { return !l.empty(); });
  ticking_ = false;
  if (any) start();
}

}  // namespace smg
