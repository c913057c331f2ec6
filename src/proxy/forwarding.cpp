#include "forwarding.hpp"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <utility>

#include "smg/protocol/header_rules.hpp"
#include "smg/proxy/relay.hpp"

namespace smg::proxy {
namespace {

constexpr std::uint32_t kUnavailableRetryAfter_s = 1;

worker::Outcome outcome_of_status(int status) {
  switch (status) {
    case 500:
    case 502:
    case 504:
      return worker::Outcome::failure;
    case 408:
    case 429:
    case 503:
      return worker::Outcome::neutral;
    default:
      return worker::Outcome::success;
  }
}

ErrorReply reply_for(const Error& error) {
  using protocol::ErrorCode;
  if (error.side == Side::gateway) {
    ErrorReply reply{ErrorCode::no_available_workers, "the gateway is out of resources"};
    reply.retry_after_s = kUnavailableRetryAfter_s;
    return reply;
  }
  switch (error.code) {
    case Errc::connect_failed:
      return {ErrorCode::upstream_connect_failed, "the worker could not be reached"};
    case Errc::timeout:
      return {ErrorCode::upstream_timeout, "the worker did not answer in time"};
    case Errc::bad_message:
      return {ErrorCode::upstream_bad_response, "the worker's answer was not valid HTTP"};
    default:
      return {ErrorCode::upstream_closed, "the worker closed the connection before it answered"};
  }
}

double seconds_since(TimePoint start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Forwarding::Forwarding(Forwarder& owner, Call& call, const Endpoint& endpoint)
    : owner_(owner), call_(call), endpoint_(endpoint), retry_(owner.options_.retry) {}

Forwarding::~Forwarding() { call_.client->unwatch(); }

std::optional<ErrorReply> Forwarding::read_facts(bool has_body) {
  has_body_ = has_body;
  facts_ = {};
  facts_fresh_ = true;
  if (!has_body) return std::nullopt;
  protocol::FactsOptions options;
  options.kind = endpoint_.kind;
  options.want_key = owner_.parts_.selector.policy().wants_key();
  std::vector<std::uint32_t>& hint = owner_.hint_;
  hint.clear();
  if (options.want_key) {
    const std::string_view header = call_.head.field("x-smg-routing-tokens");
    if (!header.empty() && protocol::parse_routing_tokens(header, hint)) options.want_key = false;
  }
  std::optional<protocol::FactsError> error =
      protocol::read_facts(call_.body, options, owner_.scratch_, facts_);
  if (error) {
    return ErrorReply{
        error->json ? protocol::ErrorCode::invalid_json : protocol::ErrorCode::invalid_request,
        std::move(error->message), error->field};
  }
  if (!hint.empty()) facts_.tokens = &hint;
  model_ = facts_.model;
  stream_ = facts_.stream;
  return std::nullopt;
}

Selector::Choice Forwarding::choose() {
  // A suspension has let other requests use the scratch space.
  if (!facts_fresh_) (void)read_facts(has_body_);
  facts_fresh_ = false;
  policy::RoutingRequest request;
  request.model = model_;
  request.text = facts_.text;
  if (facts_.tokens != nullptr) request.tokens = *facts_.tokens;
  // About four bytes a token; of the whole body when the policy did not ask for its text.
  const std::size_t bytes = request.text.empty() ? call_.body.size() : request.text.size();
  request.estimated_tokens = request.tokens.empty() ? (bytes + 3) / 4 : request.tokens.size();
  request.now = Clock::now();
  Selector::Choice choice = owner_.parts_.selector.choose(request, excluded_);
  if (model_metrics_ == nullptr) {
    model_metrics_ = &owner_.parts_.metrics.model(choice.model);
    model_metrics_->count_request(endpoint_.label, stream_);
  }
  if (choice.status == Selector::Status::ok)
    model_metrics_->count_selection(owner_.parts_.policy_id);
  return choice;
}

void Forwarding::on_client_gone() {
  client_gone_ = true;
  if (current_ && current_->exchange) current_->exchange->abort();
  if (timer_) timer_->cancel();
}

awaitable<Result<>> Forwarding::start(Attempt& attempt) {
  const worker::Worker& worker = *attempt.worker;
  protocol::UpstreamHead options;
  options.path_prefix = worker.spec.url.path;
  options.authority = worker.spec.url.authority;
  options.request_id = call_.request_id;
  options.worker_key = worker.spec.api_key;
  options.gateway_key = owner_.options_.api_key;
  options.content_length = call_.body.size();
  options.has_body = has_body_;
  std::string head;
  protocol::write_request_head(head, call_.head, options);

  upstream::ExchangeTimeouts timeouts;
  timeouts.head = timeouts.silence = owner_.options_.request_timeout;
  attempt.exchange.emplace(owner_.parts_.connector, worker.spec.url, timeouts);
  upstream::Exchange::Request request;
  request.head = head;
  request.body = call_.body;
  request.head_request = call_.head.method == "HEAD";
  Result<> result = co_await attempt.exchange->start(request);
  if (!result && result.error().retry == Retry::fresh_connection) {
    // The worker closed an idle connection as we used it: that says nothing of the worker.
    owner_.parts_.metrics.count_send_retry();
    request.allow_reuse = false;
    result = co_await attempt.exchange->start(request);
  }
  co_return result;
}

// What to do after this attempt; tells the breaker unless the answer is about to be relayed.
RetryMachine::Next Forwarding::judge(Attempt& attempt, const Result<>& result) {
  if (!result) {
    const Error& error = result.error();
    const bool guilty = error.side == Side::upstream && error.code != Errc::canceled;
    attempt.ticket->set_outcome(guilty ? worker::Outcome::failure : worker::Outcome::neutral);
    return retry_.after_error(error);
  }
  const int status = attempt.exchange->response().status;
  attempt.ticket->set_outcome(outcome_of_status(status));
  return retry_.after_status(status);
}

void Forwarding::count_attempt(const Attempt& attempt, const Result<>& result) {
  metrics::RequestMetrics& metrics = owner_.parts_.metrics;
  if (result) {
    metrics.count_attempt(attempt.exchange->response().status);
  } else {
    metrics.count_failed_attempt(static_cast<metrics::ErrorId>(reply_for(result.error()).code));
  }
}

// The request has its final answer, whoever made it.
void Forwarding::count_answer(double seconds) {
  if (call_.status / 100 == 2) {
    model_metrics_->observe_duration(endpoint_.label, seconds);
  } else if (call_.status != 0 && !is_retryable_status(call_.status)) {
    model_metrics_->count_error(endpoint_.label, metrics::error_type_of(call_.status));
  }
}

awaitable<bool> Forwarding::back_off() {
  std::uniform_real_distribution<double> uniform(0, 1);
  const std::chrono::milliseconds delay = retry_.backoff(uniform(owner_.random_));
  owner_.parts_.metrics.count_retry(endpoint_.label, retry_.attempts(),
                                    std::chrono::duration<double>(delay).count());
  timer_.emplace(call_.client->socket().get_executor(), delay);
  boost::system::error_code ec;
  co_await timer_->async_wait(asio::redirect_error(use_awaitable, ec));
  timer_.reset();
  co_return !client_gone_;
}

awaitable<void> Forwarding::run() {
  call_.client->watch([this] { on_client_gone(); });
  Selector::Status status = Selector::Status::ok;
  while (!client_gone_) {
    Selector::Choice choice = choose();
    status = choice.status;
    if (status != Selector::Status::ok) {
      if (excluded_.empty()) break;
      excluded_.clear();  // all were tried: once more, after a pause
      if (!co_await back_off()) break;
      continue;
    }
    current_ = std::make_unique<Attempt>(std::move(*choice.ticket));
    const Result<> result = co_await start(*current_);
    if (client_gone_) break;
    count_attempt(*current_, result);
    const RetryMachine::Next next = judge(*current_, result);
    const bool answered = result.has_value();
    if (next == RetryMachine::Next::give_up &&
        (!answered || is_retryable_status(current_->exchange->response().status))) {
      owner_.parts_.metrics.count_retries_exhausted(endpoint_.label);
    }
    if (answered && next == RetryMachine::Next::give_up) {
      held_.reset();
      co_await answer(std::move(current_));
      co_return;
    }
    excluded_.push_back(current_->worker->id);
    current_->ticket.reset();
    if (answered) {
      held_ = std::move(current_);
    } else {
      last_error_ = result.error();
      current_.reset();
    }
    if (next == RetryMachine::Next::give_up) break;
  }
  if (client_gone_) {
    call_.broken = true;
  } else if (held_) {
    co_await answer(std::move(held_));
  } else {
    co_await answer_failure(status);
  }
}

awaitable<void> Forwarding::answer(std::unique_ptr<Attempt> attempt) {
  current_ = std::move(attempt);
  call_.worker = current_->worker;
  const std::string_view shown = owner_.options_.hide_routed_worker
                                     ? std::string_view{}
                                     : std::string_view(current_->worker->url());
  const RelayEnd end = co_await relay(call_, *current_->exchange, shown);
  if (current_->ticket) {
    if (end == RelayEnd::worker_cut) current_->ticket->set_outcome(worker::Outcome::failure);
    if (end == RelayEnd::client_gone) current_->ticket->set_outcome(worker::Outcome::neutral);
  }
  if (end == RelayEnd::worker_cut && call_.status == 0) {
    Error cut{Errc::bad_message, Side::upstream, Retry::never, {}};
    co_await respond_error(call_, reply_for(cut));
  }
  current_.reset();
  count_answer(stream_ ? std::chrono::duration<double>(call_.head_sent - call_.started).count()
                       : seconds_since(call_.started));
}

awaitable<void> Forwarding::answer_failure(Selector::Status status) {
  using protocol::ErrorCode;
  ErrorReply reply{ErrorCode::no_available_workers, "no worker can take the request now"};
  reply.retry_after_s = kUnavailableRetryAfter_s;
  if (last_error_) {
    reply = reply_for(*last_error_);
  } else if (status == Selector::Status::model_not_found) {
    reply = {ErrorCode::model_not_found, "no worker serves the model '" + model_ + "'", "model"};
  }
  co_await respond_error(call_, std::move(reply));
  count_answer(seconds_since(call_.started));
}

}  // namespace smg::proxy
