// One request on its way through the forwarder: its attempts until an answer has been relayed.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <boost/container/small_vector.hpp>
#include <memory>
#include <optional>
#include <string>

#include "smg/proxy/forwarder.hpp"
#include "smg/proxy/retry.hpp"
#include "smg/upstream/exchange.hpp"

namespace smg::proxy {

class Forwarding {
 public:
  Forwarding(Forwarder& owner, Call& call, const Endpoint& endpoint);
  ~Forwarding();

  // Reads the body's facts. An error reply when it cannot be routed.
  std::optional<ErrorReply> read_facts(bool has_body);
  awaitable<void> run();

 private:
  // One try on one worker. Its answer may be kept unread while others are tried.
  struct Attempt {
    explicit Attempt(worker::Ticket t) : worker(t.worker_ptr()), ticket(std::move(t)) {}
    std::shared_ptr<const worker::Worker> worker;
    std::optional<worker::Ticket> ticket;  // released when the worker is done with the request
    std::optional<upstream::Exchange> exchange;
  };

  Selector::Choice choose();
  awaitable<Result<>> start(Attempt& attempt);
  RetryMachine::Next judge(Attempt& attempt, const Result<>& result);
  awaitable<bool> back_off();
  void count_attempt(const Attempt& attempt, const Result<>& result);
  void count_answer(double seconds);
  awaitable<void> answer(std::unique_ptr<Attempt> attempt);
  awaitable<void> answer_failure(Selector::Status status);
  void on_client_gone();

  Forwarder& owner_;
  Call& call_;
  const Endpoint& endpoint_;
  RetryMachine retry_;
  std::string model_;  // as the client named it
  bool stream_ = false;
  protocol::RequestFacts facts_;  // views into scratch: valid until the first suspension
  bool facts_fresh_ = false;
  bool has_body_ = false;
  boost::container::small_vector<policy::WorkerId, 8> excluded_;
  std::unique_ptr<Attempt> current_;
  std::unique_ptr<Attempt> held_;  // the last answer that could be improved on
  std::optional<Error> last_error_;
  std::optional<asio::steady_timer> timer_;
  metrics::ModelMetrics* model_metrics_ = nullptr;  // set by the first choice
  bool client_gone_ = false;
};

}  // namespace smg::proxy
