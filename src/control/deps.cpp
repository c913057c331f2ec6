#include "smg/control/deps.hpp"

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <utility>

namespace smg::control {

namespace {

Error canceled() { return {Errc::canceled, Side::gateway, Retry::never, "canceled"}; }

struct Pending {
  explicit Pending(asio::io_context& context) : done(context) {}
  Pulse done;
  FetchResult result = canceled();
};

// Owns all it touches, since its waiter may leave early.
awaitable<void> complete(Fetch fetch, upstream::FetchRequest request,
                         std::shared_ptr<Pending> pending) {
  pending->result = co_await fetch(std::move(request));
  pending->done.notify();
}

void rethrow(std::exception_ptr error) {
  if (error) std::rethrow_exception(error);
}

}  // namespace

Deps::Deps(State state, Options plane_options, Fetch how_to_fetch)
    : context(state.context),
      fleet(state.fleet),
      registry(state.registry),
      load_table(state.load_table),
      indexes(state.indexes),
      options(std::move(plane_options)),
      loads(state.load_table),
      tasks(state.context),
      index_sizes(std::make_shared<const std::vector<policy::IndexSize>>()),
      fetch_(std::move(how_to_fetch)) {}

awaitable<FetchResult> Deps::fetch(Lifetime& life, upstream::FetchRequest request) {
  if (life.ended()) co_return canceled();
  auto pending = std::make_shared<Pending>(context);
  asio::co_spawn(context, complete(fetch_, std::move(request), pending), rethrow);
  const Woken woken = co_await pending->done.wait(life, kForever);
  if (woken == Woken::ended) co_return canceled();
  co_return std::move(pending->result);
}

upstream::FetchRequest request_to(const worker::Worker& worker, std::string target) {
  upstream::FetchRequest request;
  request.url = worker.spec.url;
  request.target = std::move(target);
  request.headers.emplace_back("accept", "*/*");
  if (!worker.spec.api_key.empty()) {
    request.headers.emplace_back("authorization", "Bearer " + worker.spec.api_key);
  }
  return request;
}

}  // namespace smg::control
