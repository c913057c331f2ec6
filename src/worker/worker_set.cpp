// How the registry makes its sets: the mapping of models and their names to workers.
#include <algorithm>

#include "smg/worker/registry.hpp"

namespace smg::worker {

const Model* WorkerSet::find_model(std::string_view name) const {
  const auto found = names_->find(name);
  return found == names_->end() ? nullptr : models_[found->second].get();
}

std::shared_ptr<const Worker> WorkerSet::find_uuid(std::string_view uuid) const {
  for (const WorkerId id : any_.workers) {
    if (by_id_[id]->uuid == uuid) return by_id_[id];
  }
  return nullptr;
}

std::shared_ptr<const Worker> WorkerSet::find_url(std::string_view url) const {
  for (const WorkerId id : any_.workers) {
    if (by_id_[id]->url() == url) return by_id_[id];
  }
  return nullptr;
}

void Registry::join_models(const Worker& worker) {
  const auto earlier = [this](WorkerId a, WorkerId b) { return order_[a] < order_[b]; };
  for (const ModelCard& card : worker.models()) {
    if (card.id.empty()) continue;
    auto& slot = models_[card.id];
    auto model =
        slot ? std::make_shared<Model>(*slot) : std::make_shared<Model>(Model{card.id, {}});
    auto& ids = model->workers;
    const auto place = std::lower_bound(ids.begin(), ids.end(), worker.id, earlier);
    if (place == ids.end() || *place != worker.id) ids.insert(place, worker.id);
    slot = std::move(model);

    const auto known = [this](const std::string& name) { return names_->contains(name); };
    names_changed_ = names_changed_ || !known(card.id) ||
                     !std::all_of(card.aliases.begin(), card.aliases.end(), known);
  }
}

void Registry::leave_models(const Worker& worker) {
  for (const ModelCard& card : worker.models()) {
    // Another worker may claim the alias for another model.
    names_changed_ = names_changed_ || !card.aliases.empty();
    const auto slot = models_.find(card.id);
    if (slot == models_.end()) continue;
    auto model = std::make_shared<Model>(*slot->second);
    std::erase(model->workers, worker.id);
    if (model->workers.empty()) {
      models_.erase(slot);
      names_changed_ = true;
    } else {
      slot->second = std::move(model);
    }
  }
}

void Registry::rebuild_names() {
  auto names = std::make_shared<StringMap<std::uint32_t>>();
  std::uint32_t place = 0;
  for (const auto& entry : models_) names->emplace(entry.first, place++);
  for (const auto& worker : workers_) {
    for (const ModelCard& card : worker->models()) {
      if (card.id.empty()) continue;
      const std::uint32_t target = names->find(card.id)->second;
      for (const std::string& alias : card.aliases) {
        if (!alias.empty()) names->emplace(alias, target);
      }
    }
  }
  names_ = std::move(names);
  names_changed_ = false;
}

void Registry::publish() {
  if (names_changed_) rebuild_names();
  auto set = std::make_shared<WorkerSet>();
  set->by_id_.resize(order_.size());
  set->any_.workers.reserve(workers_.size());
  for (const auto& worker : workers_) {
    set->by_id_[worker->id] = worker;
    set->any_.workers.push_back(worker->id);
  }
  set->models_.reserve(models_.size());
  for (const auto& entry : models_) set->models_.push_back(entry.second);
  set->names_ = names_;
  snapshot_.publish(std::move(set));
}

}  // namespace smg::worker
