// What the API shows of workers, their models and loads. Pure: snapshots in, JSON text out.
#pragma once

#include <string>
#include <string_view>

#include "smg/worker/fleet.hpp"
#include "smg/worker/load_table.hpp"
#include "smg/worker/registry.hpp"

namespace smg::control {

struct FleetView {
  const worker::WorkerSet& workers;
  const worker::Fleet& fleet;
  const worker::LoadTable& loads;
};

// One worker, without its key.
std::string worker_json(const FleetView& view, const worker::Worker& worker);
// {"workers":[...],"total","stats"}; `model` empty: all.
std::string workers_json(const FleetView& view, std::string_view model);
// {"timestamp","version","dp_rank_count","loads":[...],"aggregate"}: a row for each worker and rank
// that reported; `timestamp` as RFC 3339.
std::string loads_json(const FleetView& view, std::string_view model, std::string_view timestamp);
// {"object":"list","data":[...]}: every model id of every worker, sorted.
std::string models_json(const worker::WorkerSet& workers);

// Whether the worker serves a model of that id or alias.
bool serves(const worker::Worker& worker, std::string_view model);

// Now, in UTC with nanoseconds: "2026-11-29T19:11:48.863643148+00:00".
std::string rfc3339_now();

}  // namespace smg::control
