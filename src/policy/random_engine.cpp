#include "smg/policy/random_engine.hpp"

#include <random>

namespace smg::policy {
namespace {

std::uint64_t seed_from_system() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace

RandomEngine& thread_random() noexcept {
  thread_local RandomEngine engine(seed_from_system());
  return engine;
}

}  // namespace smg::policy
