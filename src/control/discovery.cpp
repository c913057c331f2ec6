#include "smg/control/discovery.hpp"

#include <utility>
#include <vector>

#include "smg/base/log.hpp"

namespace smg::control {

namespace {

bool same(const worker::Discovered& a, const worker::Discovered& b) {
  if (a.runtime != b.runtime || a.labels != b.labels || a.models.size() != b.models.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.models.size(); ++i) {
    if (a.models[i].id != b.models[i].id || a.models[i].aliases != b.models[i].aliases ||
        a.models[i].context_length != b.models[i].context_length) {
      return false;
    }
  }
  return true;
}

}  // namespace

awaitable<void> Discovery::run(TenurePtr tenure) {
  while (!tenure->life.ended()) {
    const std::uint64_t generation = tenure->generation;
    tenure->discovering = true;
    co_await round(tenure);
    tenure->discovering = false;
    ++tenure->rounds;
    tenure->learned.notify();
    if (tenure->life.ended()) co_return;
    if (generation != tenure->generation) continue;
    for (;;) {
      const Woken woken = co_await tenure->discover_now.wait(
          tenure->life, tenure->learned_all ? kForever : kRetryInterval);
      if (woken != Woken::timeout) break;
      if (tenure->worker(deps_)->status() == worker::WorkerStatus::ready) break;
    }
  }
}

awaitable<void> Discovery::round(TenurePtr tenure) {
  EngineAnswers answers;
  std::vector<awaitable<void>> questions;
  questions.push_back(ask_models(tenure, &answers));
  questions.push_back(ask(tenure, "/version", nullptr, &answers.version));
  questions.push_back(ask(tenure, "/server_info", "/get_server_info", &answers.server_info));
  questions.push_back(ask(tenure, "/model_info", "/get_model_info", &answers.model_info));
  co_await deps_.tasks.all(std::move(questions));
  if (tenure->life.ended()) co_return;
  publish(*tenure, answers);
  tenure->learned_all = !questions_open(answers, tenure->worker(deps_)->spec);
}

awaitable<void> Discovery::ask(TenurePtr tenure, const char* target, const char* fallback,
                               EngineAnswer* into) {
  for (const char* path : {target, fallback}) {
    if (!path || tenure->life.ended()) co_return;
    upstream::FetchRequest request = request_to(*tenure->worker(deps_), path);
    request.timeout = kAnswerTimeout;
    FetchResult result = co_await deps_.fetch(tenure->life, std::move(request));
    if (!result) co_return;
    into->status = result->status;
    into->body = std::move(result->body);
    if (into->status != 404) co_return;
  }
}

awaitable<void> Discovery::ask_models(TenurePtr tenure, EngineAnswers* answers) {
  co_await ask(tenure, "/v1/models", nullptr, &answers->models);
  if (tenure->life.ended() || !answers->models.ok()) co_return;
  // Routing needs the model ids now, not when the slowest endpoint has answered.
  publish(*tenure, *answers);
  tenure->learned.notify();
}

void Discovery::publish(Tenure& tenure, const EngineAnswers& answers) {
  const auto worker = tenure.worker(deps_);
  worker::Discovered found = describe_engine(answers, worker->spec, worker->discovered);
  if (same(found, worker->discovered)) return;
  const std::string runtime = found.runtime;
  if (!deps_.registry.set_discovered(tenure.id, std::move(found))) return;
  static log::Target& target = log::target("smg::workers");
  log::write(target, log::Level::info, "Worker described",
             {{"url", worker->url()},
              {"model_id", tenure.worker(deps_)->model_id()},
              {"runtime", runtime}});
}

void Discovery::publish_spec(const Tenure& tenure) {
  const auto worker = tenure.worker(deps_);
  worker::Discovered found = describe_engine({}, worker->spec, worker->discovered);
  if (!same(found, worker->discovered)) {
    (void)deps_.registry.set_discovered(tenure.id, std::move(found));
  }
}

}  // namespace smg::control
