// The ModelMetrics of each model name. Thread-safe; finding a known model takes no lock.
//
// Entries are never removed, so readers need no protection. After kMaxModels names, and for names
// longer than a label may be, the answer is the entry `other`.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string_view>

#include "smg/metrics/model_metrics.hpp"

namespace smg::metrics {

class ModelTable {
 public:
  static constexpr std::size_t kMaxModels = 1024;

  explicit ModelTable(ModelFamilies& families);

  ModelMetrics& at(std::string_view model);

 private:
  static constexpr std::size_t kSlots = 2 * kMaxModels;  // open addressing, at most half full

  ModelMetrics& insert(std::string_view model, std::size_t slot);

  ModelFamilies& families_;
  std::array<std::atomic<ModelMetrics*>, kSlots> slots_{};
  std::mutex mutex_;  // taken to insert
  std::deque<ModelMetrics> entries_;
  ModelMetrics other_;
};

}  // namespace smg::metrics
