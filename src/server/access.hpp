// Who may call a route. Pure.
#pragma once

#include <boost/asio/ip/address.hpp>

#include "smg/protocol/http_head.hpp"
#include "smg/server/listener.hpp"

namespace smg::server {

enum class Verdict : std::uint8_t { allowed, bad_key, not_local };

// With a key: `Authorization: Bearer KEY` or `x-api-key: KEY` on keyed and admin routes, compared
// in constant time. Without: admin routes only for clients of this host, unless admin_open.
Verdict judge_access(Access access, const protocol::RequestHead& head, bool client_is_local,
                     const SessionOptions& options);

// 127.0.0.0/8, ::1, and IPv4 loopback mapped into IPv6.
bool is_loopback(const boost::asio::ip::address& address);

}  // namespace smg::server
