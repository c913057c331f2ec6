#include "smg/proxy/relay.hpp"

#include <array>
#include <charconv>

#include "smg/protocol/chunked.hpp"
#include "smg/protocol/header_rules.hpp"

namespace smg::proxy {
namespace {

using protocol::Framing;

enum class Coding : std::uint8_t { as_is, add_chunks, drop_chunks };

struct Plan {
  Framing framing;  // towards the client
  Coding coding;
};

Plan plan_for(Framing upstream, int client_minor_version) {
  const bool chunks_allowed = client_minor_version >= 1;
  if (upstream == Framing::chunked && !chunks_allowed) {
    return {Framing::until_close, Coding::drop_chunks};
  }
  if (upstream == Framing::until_close && chunks_allowed) {
    return {Framing::chunked, Coding::add_chunks};
  }
  return {upstream, Coding::as_is};
}

// The buffers of one downstream write.
class Pieces {
 public:
  void add(std::string_view bytes) {
    if (!bytes.empty()) buffers_[count_++] = asio::buffer(bytes.data(), bytes.size());
  }
  void add_chunk(std::string_view payload) {
    if (payload.empty()) return;
    char* end = std::to_chars(size_.data(), size_.data() + size_.size(), payload.size(), 16).ptr;
    add({size_.data(), static_cast<std::size_t>(end - size_.data())});
    add("\r\n");
    add(payload);
    add("\r\n");
  }
  std::span<const asio::const_buffer> span() const { return {buffers_.data(), count_}; }
  bool empty() const { return count_ == 0; }

 private:
  std::array<char, 18> size_;
  std::array<asio::const_buffer, 8> buffers_;
  std::size_t count_ = 0;
};

class Relay {
 public:
  Relay(Call& call, upstream::Exchange& exchange, std::string_view routed_worker)
      : call_(call),
        exchange_(exchange),
        plan_(plan_for(exchange.response().framing, call.head.minor_version)) {
    if (plan_.framing == Framing::until_close) call_.keep_alive = false;
    protocol::DownstreamHead options;
    options.request_id = call.request_id;
    options.routed_worker = routed_worker;
    options.client_minor_version = call.head.minor_version;
    options.keep_alive = call.keep_alive;
    options.framing = plan_.framing;
    protocol::write_response_head(head_, exchange.response(), options);
  }

  awaitable<RelayEnd> run() {
    if (exchange_.complete() || !exchange_.has_buffered()) {
      if (!co_await write({})) co_return RelayEnd::client_gone;
    }
    while (!exchange_.complete()) {
      Result<std::string_view> piece = co_await exchange_.next();
      if (!piece) {
        co_return piece.error().code == Errc::canceled ? RelayEnd::client_gone
                                                       : RelayEnd::worker_cut;
      }
      if (!co_await write(*piece)) co_return RelayEnd::client_gone;
    }
    co_return RelayEnd::complete;
  }

 private:
  awaitable<bool> write(std::string_view wire) {
    Pieces pieces;
    if (call_.status == 0) {
      call_.status = exchange_.response().status;
      call_.head_sent = Clock::now();
      pieces.add(head_);
    }
    switch (plan_.coding) {
      case Coding::as_is:
        pieces.add(wire);
        break;
      case Coding::add_chunks:
        pieces.add_chunk(wire);
        if (exchange_.complete()) pieces.add("0\r\n\r\n");
        break;
      case Coding::drop_chunks:
        payload_.clear();
        while (!wire.empty()) {
          const protocol::ChunkedDecoder::Step step = decoder_.next(wire);
          payload_.append(step.data);
          wire.remove_prefix(step.consumed);
          if (step.status != protocol::ChunkedDecoder::Status::data) break;
        }
        pieces.add(payload_);
        break;
    }
    if (pieces.empty()) co_return true;
    Result<> sent = co_await call_.client->write(pieces.span(), kWriteSilence);
    co_return sent.has_value();
  }

  Call& call_;
  upstream::Exchange& exchange_;
  const Plan plan_;
  std::string head_;
  protocol::ChunkedDecoder decoder_;
  std::string payload_;
};

}  // namespace

awaitable<RelayEnd> relay(Call& call, upstream::Exchange& exchange,
                          std::string_view routed_worker) {
  Relay relay(call, exchange, routed_worker);
  const RelayEnd end = co_await relay.run();
  if (end != RelayEnd::complete && call.status != 0) call.broken = true;
  if (end == RelayEnd::client_gone) call.broken = true;
  co_return end;
}

}  // namespace smg::proxy
