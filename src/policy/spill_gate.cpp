#include "smg/policy/spill_gate.hpp"

namespace smg::policy {

bool SpillGate::hot(std::uint32_t load, double mean) const noexcept {
  const double requests = load;
  return requests > balance_rel_threshold * mean && requests > mean + balance_abs_threshold;
}

double mean_load(std::span<const worker::WorkerId> workers, const worker::Fleet& fleet) noexcept {
  if (workers.empty()) return 0;
  std::uint64_t sum = 0;
  for (const worker::WorkerId id : workers) sum += fleet.in_flight(id);
  return static_cast<double>(sum) / static_cast<double>(workers.size());
}

}  // namespace smg::policy
