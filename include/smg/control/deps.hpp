// What the parts of the control plane share. Lives as long as its io_context runs. Control thread
// only, except for the snapshots and the admin flags.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "smg/base/asio.hpp"
#include "smg/base/snapshot.hpp"
#include "smg/control/lifetime.hpp"
#include "smg/control/options.hpp"
#include "smg/control/task_group.hpp"
#include "smg/policy/prefix_indexes.hpp"
#include "smg/upstream/fetch.hpp"
#include "smg/worker/load_table.hpp"
#include "smg/worker/registry.hpp"

namespace smg::control {

using FetchResult = Result<upstream::FetchResponse>;
// How the plane talks to workers. May outlive everything else: it owns what it needs.
using Fetch = std::function<awaitable<FetchResult>(upstream::FetchRequest)>;

struct Deps {
  struct State {
    asio::io_context& context;
    worker::Fleet& fleet;
    worker::Registry& registry;
    Snapshot<worker::LoadTable>& load_table;
    policy::PrefixIndexes& indexes;
  };
  Deps(State state, Options plane_options, Fetch how_to_fetch);

  // One exchange with a worker. Errc::canceled as soon as `life` ends; the exchange itself is then
  // left to its own timeout.
  awaitable<FetchResult> fetch(Lifetime& life, upstream::FetchRequest request);

  asio::io_context& context;
  worker::Fleet& fleet;
  worker::Registry& registry;
  Snapshot<worker::LoadTable>& load_table;
  policy::PrefixIndexes& indexes;
  const Options options;
  worker::LoadHistory loads;
  TaskGroup tasks;
  // Set before the loops are ended: no more admin operations.
  std::atomic<bool> stopping{false};
  // As of the last eviction cycle.
  Snapshot<std::vector<policy::IndexSize>> index_sizes;

 private:
  Fetch fetch_;
};

// A GET of the worker's, with its key.
upstream::FetchRequest request_to(const worker::Worker& worker, std::string target);

}  // namespace smg::control
