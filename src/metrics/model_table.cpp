#include "smg/metrics/model_table.hpp"

#include <functional>
#include <string>

namespace smg::metrics {

ModelTable::ModelTable(ModelFamilies& families)
    : families_(families), other_(families, std::string(kOther)) {}

ModelMetrics& ModelTable::at(std::string_view model) {
  if (model.size() > kMaxValueBytes) return other_;
  std::size_t slot = std::hash<std::string_view>{}(model) % kSlots;
  for (;; slot = (slot + 1) % kSlots) {
    ModelMetrics* entry = slots_[slot].load(std::memory_order_acquire);
    if (entry == nullptr) return insert(model, slot);
    if (entry->model() == model) return *entry;
  }
}

// `slot` was free a moment ago, and so no slot before it holds the model.
ModelMetrics& ModelTable::insert(std::string_view model, std::size_t slot) {
  std::lock_guard lock(mutex_);
  for (;; slot = (slot + 1) % kSlots) {
    ModelMetrics* entry = slots_[slot].load(std::memory_order_relaxed);
    if (entry == nullptr) break;
    if (entry->model() == model) return *entry;
  }
  if (entries_.size() >= kMaxModels) return other_;
  ModelMetrics& made = entries_.emplace_back(families_, std::string(model));
  slots_[slot].store(&made, std::memory_order_release);
  return made;
}

}  // namespace smg::metrics
