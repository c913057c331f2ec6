// Series addressed by a small integer, each resolved at its first use. Thread-safe; a use after
// the first costs one load.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace smg::metrics {

template <class Instrument>
class Slots {
 public:
  explicit Slots(std::size_t size) : slots_(new std::atomic<Instrument*>[size] {}) {}

  // `resolve` returns the same Instrument& whenever it is called for the same index.
  template <class Resolve>
  Instrument& get(std::size_t index, Resolve resolve) {
    Instrument* known = slots_[index].load(std::memory_order_acquire);
    if (known == nullptr) {
      known = &resolve();
      slots_[index].store(known, std::memory_order_release);
    }
    return *known;
  }

 private:
  std::unique_ptr<std::atomic<Instrument*>[]> slots_;
};

}  // namespace smg::metrics
