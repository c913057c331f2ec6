// Time for intervals. Pure code never reads it: `now` is a parameter, so tests need no waiting.
#pragma once

#include <chrono>

namespace smg {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;

}  // namespace smg
