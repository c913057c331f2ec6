#include "smg/proxy/forwarder.hpp"

#include "forwarding.hpp"
#include "smg/protocol/media_type.hpp"

namespace smg::proxy {
namespace {

std::optional<ErrorReply> check_media(const protocol::RequestHead& head) {
  const std::string_view encoding = head.field("content-encoding");
  if (!encoding.empty() && !protocol::iequals(encoding, "identity")) {
    return ErrorReply{protocol::ErrorCode::unsupported_media_type,
                      "Content-Encoding '" + std::string(encoding) + "' is not supported"};
  }
  const std::string_view type = head.field("content-type");
  if (!type.empty() && !protocol::is_json_media_type(type)) {
    return ErrorReply{protocol::ErrorCode::unsupported_media_type,
                      "Content-Type must be application/json, not '" + std::string(type) + "'"};
  }
  return std::nullopt;
}

}  // namespace

Forwarder::Forwarder(Parts parts, const Options& options)
    : parts_(parts), options_(options), random_(std::random_device{}()) {}

awaitable<void> Forwarder::forward(Call& call, const Endpoint& endpoint) {
  std::optional<ErrorReply> refused = check_media(call.head);
  Forwarding forwarding(*this, call, endpoint);
  if (!refused) refused = forwarding.read_facts(true);
  if (refused) {
    co_await respond_error(call, std::move(*refused));
    co_return;
  }
  co_await forwarding.run();
}

awaitable<void> Forwarder::forward_any(Call& call, const Endpoint& endpoint) {
  Forwarding forwarding(*this, call, endpoint);
  (void)forwarding.read_facts(false);
  co_await forwarding.run();
}

}  // namespace smg::proxy
