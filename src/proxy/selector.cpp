#include "smg/proxy/selector.hpp"

#include <algorithm>
#include <utility>

namespace smg::proxy {
namespace {

bool contains(std::span<const policy::WorkerId> ids, policy::WorkerId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

Selector::Selector(const Snapshot<worker::WorkerSet>& workers,
                   const Snapshot<worker::LoadTable>& loads, worker::Fleet& fleet,
                   policy::Policy& policy)
    : workers_(workers), loads_(loads), fleet_(fleet), policy_(policy) {}

const worker::Model* Selector::find(std::string_view name) {
  const worker::WorkerSet& workers = workers_.get();
  if (name.empty() || name == "unknown") return &workers.any();
  return workers.find_model(name);
}

void Selector::collect(const worker::Model& model, std::span<const policy::WorkerId> excluded,
                       TimePoint now) {
  const worker::WorkerSet& workers = workers_.get();
  eligible_.clear();
  for (const policy::WorkerId id : model.workers) {
    const std::uint8_t blocked = fleet_.blocked(id);
    if (blocked != 0) {
      // Only an open or half-open breaker can still let a trial request through.
      if (blocked != worker::kBreaker || !workers.at(id)->shared->breaker.would_admit(now))
        continue;
    }
    if (!excluded.empty() && contains(excluded, id)) continue;
    eligible_.push_back(id);
  }
}

Selector::Choice Selector::choose(policy::RoutingRequest request,
                                  std::span<const policy::WorkerId> excluded) {
  const worker::Model* model = find(request.model);
  const worker::WorkerSet& workers = workers_.get();
  Choice choice;
  choice.model = model == nullptr ? std::string_view("unknown") : std::string_view(model->id);
  if (model == nullptr) {
    choice.status = workers.empty() ? Status::unavailable : Status::model_not_found;
    return choice;
  }
  collect(*model, excluded, request.now);
  while (!eligible_.empty()) {
    request.model = model == &workers.any() ? std::string_view(workers.at(eligible_[0])->model_id())
                                            : std::string_view(model->id);
    const policy::Candidates candidates{eligible_, workers, fleet_, loads_.get()};
    const std::optional<policy::Selection> selected = policy_.select(request, candidates);
    if (!selected) break;
    choice.ticket = worker::Ticket::acquire(fleet_, workers.at(selected->worker), request.now);
    if (choice.ticket) {
      choice.status = Status::ok;
      return choice;
    }
    // The last trial place of a half-open breaker went to another thread.
    std::erase(eligible_, selected->worker);
  }
  choice.status = Status::unavailable;
  return choice;
}

}  // namespace smg::proxy
