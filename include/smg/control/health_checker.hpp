// Probes workers and moves them in and out of service. Control thread.
//
// Ready at the first good probe, but at most kModelsWait later, while the worker's model ids are
// still being asked for. A worker that refused connections and is back has lost its cache: it is
// purged from the prefix indexes.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "smg/control/deps.hpp"
#include "smg/control/permits.hpp"
#include "smg/control/tenure.hpp"

namespace smg::control {

class HealthChecker {
 public:
  static constexpr std::size_t kMaxProbes = 128;  // at a time
  static constexpr std::chrono::milliseconds kModelsWait{1000};

  // `on_failed` is called when a worker's status becomes failed; it may end the worker's life.
  HealthChecker(Deps& deps, std::function<void(const std::string& uuid)> on_failed)
      : deps_(deps), permits_(deps.context, kMaxProbes), on_failed_(std::move(on_failed)) {}

  // The worker's loop: until its life ends.
  awaitable<void> run(TenurePtr tenure);

  // Starts over with other options; the status stays what it is.
  static void reset(Tenure& tenure, const worker::HealthOptions& options,
                    worker::WorkerStatus status);

 private:
  awaitable<FetchResult> probe(TenurePtr tenure, worker::HealthOptions options);
  awaitable<void> take(TenurePtr tenure, FetchResult result);
  awaitable<void> bring_in(TenurePtr tenure);
  awaitable<void> wait_for_models(TenurePtr tenure);
  void take_out(Tenure& tenure, worker::WorkerStatus status, const FetchResult& result);
  worker::HealthOptions options_of(const Tenure& tenure) const;

  Deps& deps_;
  Permits permits_;
  std::function<void(const std::string&)> on_failed_;
};

}  // namespace smg::control
