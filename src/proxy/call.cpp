#include "smg/proxy/call.hpp"

#include <array>
#include <charconv>

#include "smg/protocol/header_rules.hpp"

namespace smg::proxy {
namespace {

// Writes the pieces and marks the call broken when the client is gone.
awaitable<bool> send(Call& call, std::span<const asio::const_buffer> pieces) {
  Result<> sent = co_await call.client->write(pieces, kWriteSilence);
  if (!sent) call.broken = true;
  co_return sent.has_value();
}

void sent_head(Call& call, int status) {
  call.status = status;
  call.head_sent = Clock::now();
}

}  // namespace

awaitable<void> respond(Call& call, Response response) {
  std::string head;
  protocol::GatewayHead options;
  options.status = response.status;
  options.content_type = response.content_type;
  options.content_length = response.body.size();
  options.request_id = call.request_id;
  options.client_minor_version = call.head.minor_version;
  options.keep_alive = call.keep_alive;
  std::vector<protocol::HeaderField> fields;
  fields.reserve(response.headers.size());
  for (const auto& [name, value] : response.headers) fields.push_back({name, value});
  options.fields = fields;
  protocol::write_gateway_head(head, options);
  sent_head(call, response.status);
  const bool bodiless = call.head.method == "HEAD";
  const std::array<asio::const_buffer, 2> pieces{
      asio::buffer(head), asio::buffer(response.body.data(), bodiless ? 0 : response.body.size())};
  co_await send(call, pieces);
}

awaitable<void> respond_error(Call& call, ErrorReply error) {
  Response response;
  response.status = protocol::status_of(error.code);
  response.body = protocol::error_body(error.code, error.message,
                                       protocol::shape_of_path(call.head.path), error.param);
  call.error = error.code;
  response.headers.emplace_back("x-smg-error-code", protocol::name_of(error.code));
  if (error.retry_after_s > 0) {
    response.headers.emplace_back("Retry-After", std::to_string(error.retry_after_s));
  }
  if (!error.allow.empty()) response.headers.emplace_back("Allow", error.allow);
  co_await respond(call, std::move(response));
}

awaitable<bool> begin_stream(Call& call, int status, std::string_view content_type) {
  std::string head;
  protocol::GatewayHead options;
  options.status = status;
  options.content_type = content_type;
  options.request_id = call.request_id;
  options.client_minor_version = call.head.minor_version;
  options.framing =
      call.head.minor_version >= 1 ? protocol::Framing::chunked : protocol::Framing::until_close;
  if (options.framing == protocol::Framing::until_close) call.keep_alive = false;
  options.keep_alive = call.keep_alive;
  protocol::write_gateway_head(head, options);
  sent_head(call, status);
  const std::array<asio::const_buffer, 1> pieces{asio::buffer(head)};
  co_return co_await send(call, pieces);
}

awaitable<bool> write_stream(Call& call, std::string_view bytes) {
  if (bytes.empty()) co_return !call.broken;
  if (call.head.minor_version == 0) {
    const std::array<asio::const_buffer, 1> pieces{asio::buffer(bytes.data(), bytes.size())};
    co_return co_await send(call, pieces);
  }
  std::array<char, 20> size;
  char* end = std::to_chars(size.data(), size.data() + size.size() - 2, bytes.size(), 16).ptr;
  *end++ = '\r';
  *end++ = '\n';
  const std::array<asio::const_buffer, 3> pieces{
      asio::buffer(size.data(), static_cast<std::size_t>(end - size.data())),
      asio::buffer(bytes.data(), bytes.size()), asio::buffer("\r\n", 2)};
  co_return co_await send(call, pieces);
}

awaitable<bool> end_stream(Call& call) {
  if (call.head.minor_version == 0) co_return !call.broken;
  const std::array<asio::const_buffer, 1> pieces{asio::buffer("0\r\n\r\n", 5)};
  co_return co_await send(call, pieces);
}

}  // namespace smg::proxy
