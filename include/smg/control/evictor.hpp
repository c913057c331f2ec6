// Keeps the prefix indexes within their budget. Control thread.
//
// Every interval it evicts in slices and lets other work in between them; then the sizes for the
// gauges are published and one info line is logged.
#pragma once

#include "smg/control/deps.hpp"

namespace smg::control {

class Evictor {
 public:
  explicit Evictor(Deps& deps) : deps_(deps) {}

  // Until `life` ends.
  awaitable<void> run(Lifetime& life);

 private:
  awaitable<void> cycle(Lifetime& life);
  void report();

  Deps& deps_;
};

}  // namespace smg::control
