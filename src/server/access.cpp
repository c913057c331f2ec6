#include "access.hpp"

namespace smg::server {
namespace {

// Takes the same time wherever the texts differ; the length of the key is no secret.
bool equal_secret(std::string_view given, std::string_view key) {
  if (given.size() != key.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < key.size(); ++i) {
    difference |= static_cast<unsigned>(static_cast<unsigned char>(given[i])) ^
                  static_cast<unsigned char>(key[i]);
  }
  return difference == 0;
}

std::string_view bearer(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() < kScheme.size() ||
      !protocol::iequals(authorization.substr(0, kScheme.size()), kScheme)) {
    return {};
  }
  authorization.remove_prefix(kScheme.size());
  authorization.remove_prefix(std::min(authorization.find_first_not_of(' '), authorization.size()));
  return authorization;
}

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
    const bool known = equal_secret(bearer(head.field("authorization")), options.api_key) ||
                       equal_secret(head.field("x-api-key"), options.api_key);
    return known ? Verdict::allowed : Verdict::bad_key;
  }
  if (access == Access::admin && !options.admin_open && !is_loopback(peer)) {
    return Verdict::not_local;
  }
  return Verdict::allowed;
}

}  // namespace smg::server
