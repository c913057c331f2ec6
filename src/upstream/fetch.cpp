#include "smg/upstream/fetch.hpp"

#include <utility>

#include "smg/protocol/chunked.hpp"
#include "smg/upstream/exchange.hpp"

namespace smg::upstream {
namespace {

std::string request_head(const FetchRequest& request) {
  std::string head;
  const auto add = [&head](std::initializer_list<std::string_view> pieces) {
    for (const std::string_view piece : pieces) head.append(piece);
  };
  add({request.method, " ", request.url.path, request.target,
       " HTTP/1.1\r\nHost: ", request.url.authority, "\r\n"});
  for (const auto& [name, value] : request.headers) add({name, ": ", value, "\r\n"});
  if (request.method != "GET" && request.method != "HEAD") {
    add({"Content-Length: ", std::to_string(request.body.size()), "\r\n"});
  }
  add({"Connection: close\r\n\r\n"});
  return head;
}

// Ends the exchange when the time for all of it is over.
class WholeTimer final : public Deadline {
 public:
  explicit WholeTimer(Exchange& exchange) : exchange_(exchange) {}
  void on_deadline() override {
    fired = true;
    exchange_.abort();
  }
  bool fired = false;

 private:
  Exchange& exchange_;
};

// Appends the payload of the wire bytes. False: malformed (the exchange has checked it already).
bool append_payload(std::string_view wire, protocol::Framing framing,
                    protocol::ChunkedDecoder& decoder, std::string& out) {
  if (framing != protocol::Framing::chunked) {
    out.append(wire);
    return true;
  }
  while (!wire.empty()) {
    const protocol::ChunkedDecoder::Step step = decoder.next(wire);
    if (step.status == protocol::ChunkedDecoder::Status::error) return false;
    out.append(step.data);
    wire.remove_prefix(step.consumed);
    if (step.status != protocol::ChunkedDecoder::Status::data) break;
  }
  return true;
}

awaitable<Result<FetchResponse>> run(Exchange& exchange, const FetchRequest& request) {
  const std::string head = request_head(request);
  Exchange::Request parts;
  parts.head = head;
  parts.body = request.body;
  parts.head_request = request.method == "HEAD";
  parts.allow_reuse = false;
  Result<> started = co_await exchange.start(parts);
  if (!started) co_return started.error();
  FetchResponse response;
  response.status = exchange.response().status;
  for (const protocol::HeaderField& field : exchange.response().fields) {
    response.headers.emplace_back(field.name, field.value);
  }
  protocol::ChunkedDecoder decoder;
  while (!exchange.complete()) {
    Result<std::string_view> piece = co_await exchange.next();
    if (!piece) co_return piece.error();
    if (!append_payload(*piece, exchange.response().framing, decoder, response.body)) {
      co_return Error{Errc::bad_message, Side::upstream, Retry::never, "broken chunks"};
    }
    if (response.body.size() > request.max_body) {
      co_return Error{Errc::too_large, Side::upstream, Retry::never, "the answer is too long"};
    }
  }
  co_return response;
}

}  // namespace

awaitable<Result<FetchResponse>> fetch(Connector& connector, FetchRequest request) {
  ExchangeTimeouts timeouts;
  timeouts.head = timeouts.silence = request.timeout;
  Exchange exchange(connector, request.url, timeouts);
  WholeTimer timer(exchange);
  connector.deadlines().arm(timer, request.timeout);
  Result<FetchResponse> result = co_await run(exchange, request);
  if (!result && timer.fired) {
    co_return Error{Errc::timeout, Side::upstream, Retry::never,
                    "no whole answer in time (" + request.url.text + ")"};
  }
  co_return result;
}

}  // namespace smg::upstream
