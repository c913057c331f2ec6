// The series of workers, engines and prefix indexes, read at each scrape from what is there now: a
// removed worker's series disappear.
#pragma once

#include <prometheus/metric_family.h>

#include <memory>
#include <vector>

#include "smg/control/deps.hpp"

namespace smg::control {

// Any thread.
std::vector<prometheus::MetricFamily> fleet_families(const Deps& deps);

}  // namespace smg::control
