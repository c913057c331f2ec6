// POST /flush_cache: asks every engine to drop its cache. Control thread.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "smg/control/deps.hpp"
#include "smg/control/reply.hpp"

namespace smg::control {

inline constexpr std::chrono::seconds kFlushTimeout{45};
inline constexpr std::size_t kMaxFlushes = 32;  // at a time

// 200 when all did, 206 when some did not, with the workers of either kind. Also clears the
// gateway's own indexes, which describe caches that are gone.
awaitable<Reply> flush_caches(Deps& deps, Lifetime& life);

}  // namespace smg::control
