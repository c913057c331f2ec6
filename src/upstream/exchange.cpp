#include "smg/upstream/exchange.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "smg/base/clock.hpp"

namespace smg::upstream {
namespace {

// A first read takes what most answers and every event need; reads grow while they come in full.
constexpr std::size_t kFirstRead = 16 * 1024;
constexpr std::size_t kLargestRead = 256 * 1024;

constexpr protocol::HeadLimits kHeadLimits{};

}  // namespace

Exchange::Exchange(Connector& connector, const Url& url, ExchangeTimeouts timeouts)
    : connector_(connector), url_(url), timeouts_(timeouts), read_size_(kFirstRead) {}

Exchange::~Exchange() {
  if (connection_) connection_->close();
}

void Exchange::abort() {
  connecting_.cancel();
  if (connection_) connection_->close();
}

Error Exchange::failed(Errc code, std::string_view what) const {
  if (connecting_.canceled()) return {Errc::canceled, Side::downstream, Retry::never, "canceled"};
  Retry retry = Retry::always;
  if (code == Errc::timeout) {
    retry = Retry::never;
  } else if (reused_ && !answered_ && code == Errc::closed) {
    retry = Retry::fresh_connection;
  }
  return {code, Side::upstream, retry, std::string(what) + " (" + url_.text + ")"};
}

awaitable<Result<>> Exchange::connect(bool allow_reuse) {
  connection_ = allow_reuse ? connector_.take_idle(url_) : nullptr;
  reused_ = connection_ != nullptr;
  if (reused_) co_return Result<>{};
  Result<std::shared_ptr<Connection>> opened = co_await connector_.connect(url_, connecting_);
  if (!opened) co_return opened.error();
  connection_ = std::move(*opened);
  co_return Result<>{};
}

awaitable<Result<>> Exchange::start(Request request) {
  if (connection_) connection_->close();
  input_.consume(input_.size());
  chunked_.reset();
  returned_ = 0;
  answered_ = ended_ = complete_ = false;
  Result<> connected = co_await connect(request.allow_reuse);
  if (!connected) co_return connected;
  const std::array<asio::const_buffer, 2> pieces{
      asio::buffer(request.head.data(), request.head.size()),
      asio::buffer(request.body.data(), request.body.size())};
  Result<> sent = co_await connection_->write(pieces, timeouts_.head);
  if (!sent && sent.error().code == Errc::timeout) {
    co_return failed(Errc::timeout, "the worker did not take the request in time");
  }
  // A worker may answer and close without reading all of the body: look for that answer.
  Result<> read = co_await read_head(request.head_request);
  if (!read && connection_) connection_->close();
  co_return read;
}

awaitable<Result<>> Exchange::fill(std::chrono::milliseconds timeout) {
  for (;;) {
    Result<> ready = co_await connection_->readable(timeout);
    if (!ready) {
      co_return failed(ready.error().code == Errc::timeout ? Errc::timeout : Errc::closed,
                       "the worker sent nothing in time");
    }
    const std::size_t room = input_.prepare(read_size_).size();
    switch (connection_->read_some(input_, room)) {
      case Connection::Read::data:
        answered_ = true;
        if (input_.room() == 0) read_size_ = std::min(read_size_ * 4, kLargestRead);
        co_return Result<>{};
      case Connection::Read::would_block:
        continue;
      case Connection::Read::end:
        ended_ = true;
        co_return Result<>{};
      case Connection::Read::error:
        co_return failed(Errc::closed, "the worker reset the connection");
    }
  }
}

// True once the final head is complete; interim (1xx) answers are skipped.
Result<bool> Exchange::parse_head(protocol::HeadScanner& scanner, bool head_request) {
  for (;;) {
    const std::size_t size = scanner.scan(input_.view(), kHeadLimits);
    if (scanner.error() != protocol::HeadError::none) {
      return failed(Errc::bad_message, "the worker's answer is not HTTP/1.1");
    }
    if (size == 0) return false;
    head_.assign(input_.view().substr(0, size));
    const protocol::HeadError error =
        protocol::parse_response_head(head_, kHeadLimits, head_request, response_);
    if (error != protocol::HeadError::none) {
      return failed(Errc::bad_message, "the worker's answer has a malformed head");
    }
    input_.consume(size);
    scanner.reset();
    if (response_.status >= 200) return true;
  }
}

awaitable<Result<>> Exchange::read_head(bool head_request) {
  protocol::HeadScanner scanner;
  const TimePoint deadline = Clock::now() + timeouts_.head;
  for (;;) {
    Result<bool> parsed = parse_head(scanner, head_request);
    if (!parsed) co_return parsed.error();
    if (*parsed) break;
    if (ended_) co_return failed(Errc::closed, "the worker closed before an answer");
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) co_return failed(Errc::timeout, "no answer from the worker in time");
    Result<> more = co_await fill(left);
    if (!more) co_return more;
  }
  begin_body();
  co_return Result<>{};
}

void Exchange::begin_body() {
  remaining_ = response_.content_length;
  const bool empty = response_.framing == protocol::Framing::none ||
                     (response_.framing == protocol::Framing::length && remaining_ == 0);
  if (empty) complete(0);
}

// How many of the available bytes belong to this answer's body.
Result<std::size_t> Exchange::measure(std::string_view available) {
  switch (response_.framing) {
    case protocol::Framing::none:
      return std::size_t{0};
    case protocol::Framing::until_close:
      return available.size();
    case protocol::Framing::length: {
      const std::size_t n = std::min<std::uint64_t>(available.size(), remaining_);
      remaining_ -= n;
      if (remaining_ == 0) complete(n);
      return n;
    }
    case protocol::Framing::chunked:
      break;
  }
  std::size_t used = 0;
  while (used < available.size()) {
    const protocol::ChunkedDecoder::Step step = chunked_.next(available.substr(used));
    used += step.consumed;
    if (step.status == protocol::ChunkedDecoder::Status::error) {
      return failed(Errc::bad_message, "the worker's answer has broken chunks");
    }
    if (step.status == protocol::ChunkedDecoder::Status::done) {
      complete(used);
      break;
    }
    if (step.status == protocol::ChunkedDecoder::Status::need_more) break;
  }
  return used;
}

awaitable<Result<std::string_view>> Exchange::next() {
  input_.consume(returned_);
  returned_ = 0;
  while (!complete_) {
    if (input_.empty()) {
      if (!ended_) {
        Result<> more = co_await fill(timeouts_.silence);
        if (!more) co_return more.error();
      }
      if (input_.empty()) {
        if (response_.framing != protocol::Framing::until_close) {
          co_return failed(Errc::closed, "the worker cut its answer");
        }
        complete(0);
        break;
      }
    }
    Result<std::size_t> size = measure(input_.view());
    if (!size) co_return size.error();
    returned_ = *size;
    co_return input_.view().substr(0, returned_);
  }
  co_return std::string_view{};
}

// The answer has ended with the next `used` bytes of the input.
void Exchange::complete(std::size_t used) {
  complete_ = true;
  const bool reusable = response_.keep_alive && !ended_ && input_.size() == used &&
                        response_.framing != protocol::Framing::until_close;
  if (reusable && connection_->is_open()) {
    connector_.give_back(url_, std::move(connection_));
  } else {
    connection_->close();
  }
  connection_ = nullptr;
}

}  // namespace smg::upstream
