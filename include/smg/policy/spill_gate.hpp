// The spill gate: when the holders of a prefix are so much busier than the fleet that a request
// leaves them.
//
//   hot(w)  <=>  load(w) > rel * mean  AND  load(w) > mean + abs          (both strict)
//
// load = requests in flight here, mean = over the eligible workers.
#pragma once

#include <cstdint>
#include <span>

#include "smg/worker/fleet.hpp"

namespace smg::policy {

struct SpillGate {
  std::uint32_t balance_abs_threshold = 64;  // requests above the mean
  double balance_rel_threshold = 1.5;        // multiple of the mean, >= 1

  bool hot(std::uint32_t load, double mean) const noexcept;
};

// 0 for no workers.
double mean_load(std::span<const worker::WorkerId> workers, const worker::Fleet& fleet) noexcept;

}  // namespace smg::policy
