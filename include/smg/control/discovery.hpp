// Learns what a worker serves: asks its engine several questions at once and publishes the answers.
//
// A round starts when the worker is registered, when it becomes ready again, when its spec is
// replaced, and every kRetryInterval while a question is open and the worker is ready. It never
// fails; an endpoint without an answer means fewer facts. Control thread.
#pragma once

#include <chrono>

#include "smg/control/deps.hpp"
#include "smg/control/engine_info.hpp"
#include "smg/control/tenure.hpp"

namespace smg::control {

class Discovery {
 public:
  static constexpr std::chrono::seconds kAnswerTimeout{5};
  static constexpr std::chrono::seconds kRetryInterval{10};

  explicit Discovery(Deps& deps) : deps_(deps) {}

  // The worker's loop: until its life ends.
  awaitable<void> run(TenurePtr tenure);

  // Publishes what the spec alone says of the models.
  void publish_spec(const Tenure& tenure);

 private:
  awaitable<void> round(TenurePtr tenure);
  // Asks `target`, and `fallback` (if not null) when there is no such endpoint.
  awaitable<void> ask(TenurePtr tenure, const char* target, const char* fallback,
                      EngineAnswer* into);
  awaitable<void> ask_models(TenurePtr tenure, EngineAnswers* answers);
  void publish(Tenure& tenure, const EngineAnswers& answers);

  Deps& deps_;
};

}  // namespace smg::control
