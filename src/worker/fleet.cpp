#include "smg/worker/fleet.hpp"

namespace smg::worker {

Fleet::Fleet() : slots_(std::make_unique<Slot[]>(kMaxWorkers)) {}

void Fleet::reset(WorkerId id) {
  clear_credit(id);
  set_turn(id, 0);
  slots_[id].blocked.store(kNotReady, std::memory_order_relaxed);
}

}  // namespace smg::worker
