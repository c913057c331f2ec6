#include "access.hpp"

#include "smg/protocol/header_rules.hpp"

namespace smg::server {
namespace {

bool is_loopback(const boost::asio::ip::address& peer) {
  if (peer.is_v6() && peer.to_v6().is_v4_mapped()) {
    return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, peer.to_v6()).is_loopback();
  }
  return peer.is_loopback();
}

}  // namespace

Verdict judge_access(Access access, const protocol::RequestHead& head,
                     const boost::asio::ip::address& peer, const SessionOptions& options) {
  if (access == Access::open) return Verdict::allowed;
  if (!options.api_key.empty()) {
    return protocol::presents_key(head, options.api_key) ? Verdict::allowed : Verdict::bad_key;
  }
  if (access == Access::admin && !options.admin_open && !is_loopback(peer)) {
    return Verdict::not_local;
  }
  return Verdict::allowed;
}

}  // namespace smg::server
