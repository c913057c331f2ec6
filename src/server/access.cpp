#include "access.hpp"

#include "smg/protocol/header_rules.hpp"

namespace smg::server {
bool is_loopback(const boost::asio::ip::address& address) {
  using boost::asio::ip::make_address_v4;
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return make_address_v4(boost::asio::ip::v4_mapped, address.to_v6()).is_loopback();
  }
  return address.is_loopback();
}

Verdict judge_access(Access access, const protocol::RequestHead& head, bool client_is_local,
                     const SessionOptions& options) {
  if (access == Access::open) return Verdict::allowed;
  if (!options.api_key.empty()) {
    return protocol::presents_key(head, options.api_key) ? Verdict::allowed : Verdict::bad_key;
  }
  if (access == Access::admin && !options.admin_open && !client_is_local) {
    return Verdict::not_local;
  }
  return Verdict::allowed;
}

}  // namespace smg::server
