#include "session.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "access.hpp"
#include "smg/protocol/chunked.hpp"
#include "smg/protocol/header_rules.hpp"

namespace smg::server {
namespace {

using protocol::ErrorCode;

constexpr std::size_t kReadSize = 16 * 1024;
constexpr std::size_t kKeptCapacity = 64 * 1024;  // a larger buffer is given back after its request
constexpr std::uint64_t kDiscardedBody = 64 * 1024;  // read to its end even if it is not wanted
constexpr std::chrono::seconds kLinger{2};
constexpr std::size_t kLingerBytes = 16 * 1024 * 1024;

ErrorCode code_of(protocol::HeadError error) {
  switch (error) {
    case protocol::HeadError::headers_too_large:
      return ErrorCode::headers_too_large;
    case protocol::HeadError::target_too_long:
      return ErrorCode::uri_too_long;
    case protocol::HeadError::unsupported_version:
      return ErrorCode::http_version_not_supported;
    case protocol::HeadError::bad_transfer_coding:
      return ErrorCode::not_implemented;
    default:
      return ErrorCode::invalid_request;
  }
}

}  // namespace

Session::Session(std::shared_ptr<Connection> connection, std::shared_ptr<SessionShared> shared,
                 const RouteTable& routes)
    : connection_(std::move(connection)), shared_(std::move(shared)), routes_(routes) {}

void Session::close_if_idle() {
  if (!busy_ && input_.empty()) connection_->close();
}

void Session::cut() {
  boost::system::error_code ignored;
  connection_->socket().shutdown(tcp::socket::shutdown_both, ignored);
}

awaitable<void> Session::run() {
  bool go_on = true;
  while (go_on) {
    refusal_.reset();
    const Progress head = co_await read_head();
    if (head == Progress::lost) break;
    if (head == Progress::refused) head_ = {};
    busy_ = true;
    shared_->active.fetch_add(1, std::memory_order_relaxed);
    go_on = co_await serve_one(head == Progress::ok);
    shared_->active.fetch_sub(1, std::memory_order_relaxed);
    busy_ = false;
  }
  connection_->close();
}

// Reads what is there or comes within `timeout`. False: timed out, or the client is gone.
awaitable<bool> Session::more(std::chrono::milliseconds timeout, bool& timed_out) {
  timed_out = false;
  for (;;) {
    Result<> ready = co_await connection_->readable(timeout);
    if (!ready) {
      timed_out = ready.error().code == Errc::timeout;
      co_return false;
    }
    if (input_.room() < kReadSize / 4) input_.prepare(kReadSize);
    switch (connection_->read_some(input_, input_.room())) {
      case Connection::Read::data:
        co_return true;
      case Connection::Read::would_block:
        continue;
      case Connection::Read::end:
      case Connection::Read::error:
        co_return false;
    }
  }
}

Session::Progress Session::refuse(ErrorCode code, std::string message) {
  refusal_ = proxy::ErrorReply{code, std::move(message)};
  return Progress::refused;
}

awaitable<Session::Progress> Session::read_head() {
  protocol::HeadScanner scanner;
  TimePoint deadline{};
  for (;;) {
    const std::size_t size = scanner.scan(input_.view(), shared_->options.head);
    if (scanner.error() != protocol::HeadError::none) {
      co_return refuse(code_of(scanner.error()), protocol::to_string(scanner.error()));
    }
    if (size > 0) {
      head_bytes_.assign(input_.view().substr(0, size));
      input_.consume(size);
      break;
    }
    std::chrono::milliseconds timeout = shared_->options.idle_timeout;
    if (!input_.empty()) {
      if (deadline == TimePoint{}) deadline = Clock::now() + shared_->options.head_timeout;
      timeout = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
      timeout = std::max(timeout, std::chrono::milliseconds(1));
    }
    bool timed_out = false;
    if (!co_await more(timeout, timed_out)) {
      if (timed_out && !input_.empty()) {
        co_return refuse(ErrorCode::request_timeout, "the request head was not complete in time");
      }
      co_return Progress::lost;
    }
  }
  const protocol::HeadError error =
      protocol::parse_request_head(head_bytes_, shared_->options.head, head_);
  if (error != protocol::HeadError::none) {
    co_return refuse(code_of(error), protocol::to_string(error));
  }
  co_return Progress::ok;
}

awaitable<Session::Progress> Session::read_body(proxy::Call& call) {
  body_in_input_ = 0;
  if (head_.framing == protocol::Framing::none) co_return Progress::ok;
  const std::size_t limit = shared_->options.max_body;
  if (head_.framing == protocol::Framing::length && head_.content_length > limit) {
    co_return refuse(ErrorCode::request_body_too_large,
                     "the request body is larger than " + std::to_string(limit) + " bytes");
  }
  if (head_.expect_continue && input_.empty()) {
    const std::array<asio::const_buffer, 1> pieces{asio::buffer(protocol::kContinueHead)};
    if (!co_await connection_->write(pieces, proxy::kWriteSilence)) co_return Progress::lost;
  }
  if (head_.framing == protocol::Framing::chunked) co_return co_await read_chunked_body(call);
  co_return co_await read_sized_body(call);
}

awaitable<Session::Progress> Session::read_sized_body(proxy::Call& call) {
  const std::size_t length = head_.content_length;
  while (input_.size() < length) {
    // Room for what is declared, but no more than has been proved by sending half of it.
    input_.prepare(std::min(length - input_.size(), std::max(kKeptCapacity, input_.size())));
    bool timed_out = false;
    if (!co_await more(shared_->options.body_silence, timed_out)) {
      if (!timed_out) co_return Progress::lost;
      co_return refuse(ErrorCode::request_timeout, "the request body was not complete in time");
    }
  }
  body_in_input_ = length;
  call.body = input_.view().substr(0, length);
  co_return Progress::ok;
}

awaitable<Session::Progress> Session::read_chunked_body(proxy::Call& call) {
  using Status = protocol::ChunkedDecoder::Status;
  protocol::ChunkedDecoder decoder;
  for (;;) {
    while (!input_.empty()) {
      const protocol::ChunkedDecoder::Step step = decoder.next(input_.view());
      if (step.status == Status::error) {
        co_return refuse(ErrorCode::invalid_request, "the request body has malformed chunks");
      }
      if (decoded_.size() + step.data.size() > shared_->options.max_body) {
        co_return refuse(ErrorCode::request_body_too_large,
                         "the request body is larger than " +
                             std::to_string(shared_->options.max_body) + " bytes");
      }
      decoded_.append(step.data);
      input_.consume(step.consumed);
      if (step.status == Status::done) {
        call.body = decoded_.view();
        co_return Progress::ok;
      }
      if (step.status == Status::need_more) break;
    }
    bool timed_out = false;
    if (!co_await more(shared_->options.body_silence, timed_out)) {
      if (!timed_out) co_return Progress::lost;
      co_return refuse(ErrorCode::request_timeout, "the request body was not complete in time");
    }
  }
}

std::string_view Session::choose_request_id() {
  const auto given = protocol::accepted_request_id(head_, shared_->options.request_id_headers);
  if (given) return *given;
  generated_id_.clear();
  protocol::append_generated_request_id(generated_id_, head_.path);
  return generated_id_;
}

// Serves one request whose head is there (or was refused). False: the connection is to be closed.
awaitable<bool> Session::serve_one(bool head_ok) {
  proxy::Call call(head_);
  call.request_id = choose_request_id();
  call.client = connection_;
  call.started = Clock::now();
  call.keep_alive =
      head_ok && head_.keep_alive && !shared_->draining.load(std::memory_order_relaxed);
  const RouteTable::Match match = routes_.find(head_.method, head_.path);
  call.route = match.index;
  call.path_param = match.param;
  if (shared_->observer != nullptr) shared_->observer->on_request(call);

  Progress progress = head_ok ? check(match) : Progress::refused;
  // A body that is refused unread ends the connection, unless it is small.
  bool unread = !head_ok || head_.framing == protocol::Framing::chunked ||
                head_.content_length > kDiscardedBody;
  if (progress == Progress::ok || !unread) {
    const Progress body = co_await read_body(call);
    unread = body == Progress::refused;
    if (progress == Progress::ok || body == Progress::lost) progress = body;
  }
  if (progress == Progress::lost) {
    call.broken = true;
  } else if (progress == Progress::ok) {
    co_await match.route->handler(call);
  } else {
    if (unread) call.keep_alive = false;
    co_await proxy::respond_error(call, std::move(*refusal_));
  }
  finish(call);
  if (call.broken || call.status == 0) {
    // A body that ends by close must not look complete.
    if (head_.minor_version == 0) connection_->abort();
    co_return false;
  }
  if (!call.keep_alive && unread && progress == Progress::refused) co_await linger();
  co_return call.keep_alive;
}

bool Session::is_local() const {
  boost::system::error_code ec;
  const asio::ip::address peer = connection_->socket().remote_endpoint(ec).address();
  return !ec && is_loopback(peer);
}

// Whether the route exists and the caller may use it.
Session::Progress Session::check(const RouteTable::Match& match) {
  if (match.route == nullptr) {
    if (match.allow.empty()) {
      return refuse(ErrorCode::route_not_found, "there is no route " + std::string(head_.path));
    }
    refuse(ErrorCode::method_not_allowed,
           std::string(head_.method) + " is not allowed on this route");
    refusal_->allow = match.allow;
    return Progress::refused;
  }
  const Access access = match.route->access;
  switch (judge_access(access, head_, access == Access::admin && is_local(), shared_->options)) {
    case Verdict::allowed:
      return Progress::ok;
    case Verdict::bad_key:
      return refuse(ErrorCode::invalid_api_key, "a valid API key is required");
    case Verdict::not_local:
      return refuse(ErrorCode::admin_forbidden,
                    "without --api-key this route is for clients on the gateway's own host; "
                    "--admin-open lifts that");
  }
  return Progress::refused;
}

void Session::finish(proxy::Call& call) {
  if (shared_->observer != nullptr) shared_->observer->on_response(call);
  input_.consume(body_in_input_);
  body_in_input_ = 0;
  if (input_.empty() && input_.capacity() > kKeptCapacity) input_.release();
  decoded_.release();
}

// Lets a client that is still sending read the answer before the connection goes.
awaitable<void> Session::linger() {
  boost::system::error_code ignored;
  connection_->socket().shutdown(tcp::socket::shutdown_send, ignored);
  const TimePoint deadline = Clock::now() + kLinger;
  std::size_t discarded = 0;
  while (Clock::now() < deadline && discarded < kLingerBytes) {
    discarded += input_.size();
    input_.consume(input_.size());
    bool timed_out = false;
    if (!co_await more(kLinger, timed_out)) break;
  }
}

}  // namespace smg::server
