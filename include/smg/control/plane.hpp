// The control plane: everything periodic and the admin operations, on one thread's io_context.
//
// The caller runs the context, keeps what the Sources refer to alive until the context is
// destroyed, and makes the Registry with an on_removed that tells the policy. start() before or
// while the context runs; stop() from any thread: probes, polls and drains end at once, also those
// that wait for a worker's answer. An unanswered request's connection may linger on the context
// until its timeout: stop the context, do not wait for it to run out of work.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "smg/base/asio.hpp"
#include "smg/base/deadlines.hpp"
#include "smg/base/snapshot.hpp"
#include "smg/control/admin.hpp"
#include "smg/control/options.hpp"
#include "smg/policy/prefix_indexes.hpp"
#include "smg/worker/load_table.hpp"
#include "smg/worker/registry.hpp"

namespace smg::metrics {
class Registry;
}

namespace smg::control {

struct Sources {
  asio::io_context& context;  // the control thread's
  Deadlines& deadlines;       // of the same thread
  worker::Fleet& fleet;
  worker::Registry& registry;
  Snapshot<worker::LoadTable>& loads;
  policy::PrefixIndexes& indexes;
  metrics::Registry& metrics;
};

class Plane {
 public:
  Plane(Sources sources, Options options);
  ~Plane();

  // Registers the workers (a URL given twice counts once) and starts the loops. Any thread, once.
  void start(std::vector<worker::WorkerSpec> workers);
  // Any thread. `stopped`, if given, runs on the control thread when the last loop has ended.
  void stop(std::function<void()> stopped = {});

  Admin& admin();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace smg::control
