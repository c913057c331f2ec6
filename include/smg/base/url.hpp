// A worker's address, parsed once at the edge.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "smg/base/error.hpp"

namespace smg {

struct Url {
  std::string scheme;  // "http" or "https"
  std::string host;    // no brackets
  std::uint16_t port = 0;
  std::string path;  // "" or "/prefix", no trailing slash

  // "http://host:port/prefix": the identity of a worker. The port is written as the caller gave
  // it (left out when it was left out); IPv6 hosts in brackets.
  std::string text;
  // Host header: "host[:port]", IPv6 in brackets, the default port left out.
  std::string authority;

  bool tls() const { return scheme == "https"; }
};

// Accepts http:// and https:// with a host (name, IPv4, IPv6 with or without brackets where
// unambiguous), an optional port 1..65535 and an optional path. A trailing slash is trimmed.
// Refuses: other or upper-case schemes, user info, query, fragment, white space and control
// characters, an empty host. The error's detail is a sentence fit for a user.
Result<Url> parse_url(std::string_view text);

// True for 169.254.0.0/16, fe80::/10 (also as IPv4 inside IPv6) and the metadata hosts of the large
// clouds. Looks at the URL alone: a name that resolves to such an address is not found out.
bool is_link_local(const Url& url);

}  // namespace smg
