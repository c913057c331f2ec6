// The routes of the control plane: worker API, loads, models, flush_cache and the probes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "smg/control/plane.hpp"
#include "smg/server/route_table.hpp"

namespace smg::server {

// Handlers may run on any I/O thread; `plane` outlives them.
std::vector<Route> admin_routes(control::Plane& plane);

// Only /liveness, /readiness and /health: for a listener of probes.
std::vector<Route> probe_routes(control::Plane& plane);

// The first value of `name` in a query, percent-decoded (`+` is a space); "" when absent.
std::string query_value(std::string_view query, std::string_view name);

}  // namespace smg::server
