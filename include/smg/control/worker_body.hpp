// The bodies of POST, PUT and PATCH /workers: read and checked field by field. Pure.
//
// Errors: Errc::invalid_argument, Side::downstream; the detail is for the client and names the
// field and what it may be. A field with a value of null counts as absent. Fields that no setting
// here belongs to are not errors: they are listed in `ignored`, and the reply names them; those
// that GET shows and that nobody can set (id, status, load ...) are passed over, so that what was
// read can be sent back.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smg/base/error.hpp"
#include "smg/control/options.hpp"
#include "smg/worker/worker.hpp"

namespace smg::control {

struct WorkerRequest {
  worker::WorkerSpec spec;
  std::optional<std::chrono::milliseconds> drain_settle;
  OverloadOptions overload;
  std::vector<std::string> ignored;
};

// POST and PUT. `defaults` complete partial health and resilience settings.
Result<WorkerRequest> parse_worker_request(std::string_view body, const Options& defaults);

// PATCH: `current` with priority, cost, labels (merged by key, null removes one), api_key and
// health (merged by field) as the body says. Another settable field is an error: that takes a PUT.
Result<WorkerRequest> patch_worker_request(std::string_view body, WorkerRequest current,
                                           const Options& defaults);

}  // namespace smg::control
