// A simulated engine behind a real port: for trying out, tests and benchmarks.
#pragma once

#include "smg/app/mock_options.hpp"

namespace smg::app {

// Runs until SIGINT or SIGTERM, then ends at once; returns the exit code. Throws when it cannot
// listen.
int run_mock_worker(const MockOptions& options);

}  // namespace smg::app
