// The gateway as a whole: wires the layers and runs until it is told to stop.
#pragma once

#include "smg/app/options.hpp"

namespace smg::app {

// Runs until SIGINT or SIGTERM and the drain after it; returns the exit code. Throws what start-up
// cannot recover from (a port in use, an unusable log directory).
int run_gateway(const Options& options);

}  // namespace smg::app
