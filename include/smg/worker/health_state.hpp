// The health state machine of one worker: pure, driven by probe results.
//
// pending -> ready at the first good probe. ready -> not_ready after `failure_threshold` failures
// in a row. not_ready -> ready after `success_threshold` good probes in a row; not_ready -> failed
// after 3 * failure_threshold further failures; failed -> ready like not_ready. pending -> failed
// after 10 * failure_threshold failures. Failures that count are in a row: a good probe in between
// starts them anew. A worker that is not ready is probed again after 1, 2, 4 ... seconds up to the
// interval, for ever; after a good probe that was not enough, again after 1 second.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "smg/base/clock.hpp"

namespace smg::worker {

enum class WorkerStatus : std::uint8_t { pending, ready, not_ready, failed, draining };
const char* to_string(WorkerStatus status);

struct HealthOptions {
  std::chrono::seconds interval{60};    // > 0
  std::chrono::seconds timeout{5};      // > 0
  std::uint32_t failure_threshold = 3;  // >= 1
  std::uint32_t success_threshold = 2;  // >= 1
  std::string endpoint = "/health";
  bool disabled = false;  // no probes; the worker counts as ready
};

class HealthState {
 public:
  explicit HealthState(const HealthOptions& options);

  // Takes one probe result and returns the status after it.
  WorkerStatus record(bool healthy);

  // How long to wait from the end of a probe to the next one.
  std::chrono::milliseconds next_delay() const;

  WorkerStatus status() const { return status_; }

 private:
  void record_success();
  void record_failure();
  void enter(WorkerStatus status);

  HealthOptions options_;
  WorkerStatus status_ = WorkerStatus::pending;
  std::uint32_t failures_ = 0;     // in a row, since the last change of status
  std::uint32_t successes_ = 0;    // in a row
  std::uint32_t down_probes_ = 0;  // failures in a row while not ready: drives the back-off
};

}  // namespace smg::worker
