// The inference routes: every path that is forwarded, and how its body is read for routing.
#pragma once

#include <span>

#include "smg/proxy/forwarder.hpp"

namespace smg::proxy {

// POST, routed by the policy.
std::span<const Endpoint> inference_endpoints();
// GET, answered by any one worker.
std::span<const Endpoint> worker_info_endpoints();

}  // namespace smg::proxy
