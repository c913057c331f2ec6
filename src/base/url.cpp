#include "smg/base/url.hpp"

#include <algorithm>
#include <array>
#include <boost/url/ipv4_address.hpp>
#include <boost/url/ipv6_address.hpp>
#include <boost/url/parse_path.hpp>
#include <charconv>
#include <optional>
#include <utility>

namespace smg {
namespace {

using boost::urls::ipv4_address;
using boost::urls::ipv6_address;

constexpr std::size_t kMaxUrlBytes = 2048;

Error invalid(std::string sentence) {
  return Error{.code = Errc::invalid_argument, .detail = std::move(sentence)};
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool all_digits(std::string_view s) { return std::all_of(s.begin(), s.end(), is_digit); }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return out;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || failed != std::errc{} || end != text.data() + text.size()) return {};
  if (port == 0 || text[0] == '0') return {};
  return port;
}

std::optional<ipv6_address> parse_ipv6(std::string_view text) {
  const auto parsed = boost::urls::parse_ipv6_address(text);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

std::string canonical(const ipv6_address& address) {
  const auto text = address.to_string();
  return {text.data(), text.size()};
}

// The parts of "host:port", neither checked beyond what was needed to part them.
struct HostPort {
  std::string host;
  std::optional<std::string> port;
  bool ipv6 = false;
};

Result<HostPort> split_bracketed(std::string_view authority) {
  const std::size_t close = authority.find(']');
  if (close == std::string_view::npos) return invalid("the IPv6 address has no closing bracket");
  const std::string_view inside = authority.substr(1, close - 1);
  const std::string_view rest = authority.substr(close + 1);
  if (inside.find('%') != std::string_view::npos) {
    return invalid("an IPv6 address with a zone is not supported");
  }
  const auto address = parse_ipv6(inside);
  if (!address) return invalid("\"" + std::string(inside) + "\" is not an IPv6 address");
  HostPort parts{.host = canonical(*address), .port = {}, .ipv6 = true};
  if (rest.empty()) return parts;
  if (rest[0] != ':') return invalid("after the bracketed IPv6 address only :PORT may follow");
  parts.port = std::string(rest.substr(1));
  return parts;
}

// Two colons or more and no brackets: an address, or an address and a port, if only one of the two
// readings makes sense.
Result<HostPort> split_bare_ipv6(std::string_view authority) {
  const std::size_t colon = authority.rfind(':');
  const std::string_view tail = authority.substr(colon + 1);
  const auto whole = parse_ipv6(authority);
  const auto before = parse_ipv6(authority.substr(0, colon));
  const bool tail_may_be_port = !tail.empty() && all_digits(tail);
  if (whole && before && parse_port(tail)) {
    return invalid("\"" + std::string(authority) +
                   "\" may end in a port or in a part of the address: put the IPv6 address in "
                   "brackets, as in [" +
                   canonical(*before) + "]:" + std::string(tail));
  }
  if (whole) return HostPort{.host = canonical(*whole), .port = {}, .ipv6 = true};
  if (before && tail_may_be_port) {
    return HostPort{.host = canonical(*before), .port = std::string(tail), .ipv6 = true};
  }
  return invalid("\"" + std::string(authority) +
                 "\" is neither HOST:PORT nor an IPv6 address; IPv6 addresses with a port are "
                 "written [ADDRESS]:PORT");
}

Result<HostPort> split_authority(std::string_view authority) {
  if (authority.starts_with('[')) return split_bracketed(authority);
  const auto colons = std::count(authority.begin(), authority.end(), ':');
  if (colons > 1) return split_bare_ipv6(authority);
  HostPort parts{.host = lower(authority.substr(0, authority.find(':'))), .port = {}};
  if (colons == 1) parts.port = std::string(authority.substr(authority.find(':') + 1));
  return parts;
}

bool is_label(std::string_view label) {
  if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') {
    return false;
  }
  return std::all_of(label.begin(), label.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_';
  });
}

// A resolver reads names such as 127.1, 0x7f000001 and 2130706433 as IPv4 addresses. Only the usual
// four numbers are let through, so that the address checked is the address connected to.
bool looks_like_ipv4(std::string_view last_label) {
  return all_digits(last_label) ||
         (last_label.starts_with("0x") &&
          last_label.find_first_not_of("0123456789abcdef", 2) == std::string_view::npos);
}

Result<> check_name(std::string_view host) {
  if (host.empty()) return invalid("the URL has no host");
  const Error bad = invalid("\"" + std::string(host) + "\" is not a host name or an IP address");
  std::string_view rest = host.ends_with('.') ? host.substr(0, host.size() - 1) : host;
  if (rest.empty() || rest.size() > 253) return bad;
  std::string_view label;
  for (bool more = true; more;) {
    const std::size_t dot = rest.find('.');
    more = dot != std::string_view::npos;
    label = rest.substr(0, dot);
    if (!is_label(label)) return bad;
    if (more) rest.remove_prefix(dot + 1);
  }
  if (looks_like_ipv4(label) && !boost::urls::parse_ipv4_address(host)) return bad;
  return {};
}

Result<std::string> check_scheme(std::string_view text) {
  const std::size_t end = text.find("://");
  if (end == std::string_view::npos) {
    return invalid("the URL has no scheme: write http://HOST:PORT or https://HOST:PORT");
  }
  std::string scheme(text.substr(0, end));
  if (scheme == "http" || scheme == "https") return scheme;
  const std::string small = lower(scheme);
  if (small == "http" || small == "https") {
    return invalid("the scheme must be written in lower case: " + small + "://");
  }
  return invalid("the scheme \"" + scheme +
                 "\" is not supported: only http and https are supported");
}

Result<> check_bytes(std::string_view text) {
  if (text.empty()) return invalid("the URL is empty");
  if (text.size() > kMaxUrlBytes) return invalid("the URL is longer than 2048 bytes");
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7F) {
      return invalid("the URL contains white space or a control character");
    }
    if (byte > 0x7F) return invalid("the URL contains a character that is not ASCII");
  }
  return {};
}

Result<std::string> check_path(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  const auto segments = boost::urls::parse_path(path);
  if (!segments) return invalid("the path contains a character that must be percent-encoded");
  for (const auto& segment : *segments) {
    const std::string decoded = segment.decode();
    if (decoded == "." || decoded == "..") {
      return invalid("the path must not contain the segments . and ..");
    }
  }
  return std::string(path);
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  if (const auto bytes = check_bytes(text); !bytes) return bytes.error();
  const auto scheme = check_scheme(text);
  if (!scheme) return scheme.error();
  const std::string_view rest = text.substr(scheme->size() + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  if (authority.find('@') != std::string_view::npos) {
    return invalid("the URL must not contain a user name or a password");
  }
  if (rest.find_first_of("?#") != std::string_view::npos) {
    return invalid("the URL must not contain a query or a fragment");
  }
  const auto parts = split_authority(authority);
  if (!parts) return parts.error();
  if (!parts->ipv6) {
    if (const auto name = check_name(parts->host); !name) return name.error();
  }
  const auto path = check_path(rest.substr(authority.size()));
  if (!path) return path.error();

  Url url{.scheme = *scheme, .host = parts->host, .path = *path, .text = {}, .authority = {}};
  const std::uint16_t usual = url.tls() ? 443 : 80;
  const auto port = parts->port ? parse_port(*parts->port) : usual;
  if (!port) {
    return invalid("the port \"" + *parts->port + "\" is not a number from 1 to 65535");
  }
  url.port = *port;
  const std::string host = parts->ipv6 ? "[" + url.host + "]" : url.host;
  const std::string with_port = host + ":" + std::to_string(url.port);
  url.text = url.scheme + "://" + (parts->port ? with_port : host) + url.path;
  url.authority = url.port == usual ? host : with_port;
  return url;
}

namespace {

bool is_link_local_v4(ipv4_address::bytes_type bytes) {
  constexpr ipv4_address::bytes_type kAlibabaMetadata{100, 100, 100, 200};
  return (bytes[0] == 169 && bytes[1] == 254) || bytes == kAlibabaMetadata;
}

bool is_link_local_v6(const ipv6_address& address) {
  static const std::array<ipv6_address, 2> kMetadata{ipv6_address("fd00:ec2::254"),
                                                     ipv6_address("fd20:ce::254")};
  static const std::array<unsigned char, 12> kNat64{0, 0x64, 0xFF, 0x9B};
  const auto bytes = address.to_bytes();
  const bool carries_v4 =
      address.is_v4_mapped() || std::equal(kNat64.begin(), kNat64.end(), bytes.begin());
  if (carries_v4 && is_link_local_v4({bytes[12], bytes[13], bytes[14], bytes[15]})) return true;
  return (bytes[0] == 0xFE && (bytes[1] & 0xC0) == 0x80) ||
         std::find(kMetadata.begin(), kMetadata.end(), address) != kMetadata.end();
}

}  // namespace

bool is_link_local(const Url& url) {
  static constexpr std::array<std::string_view, 7> kNames{"metadata",
                                                          "metadata.google.internal",
                                                          "metadata.goog",
                                                          "instance-data",
                                                          "metadata.azure.internal",
                                                          "instance-data.ec2.internal",
                                                          "metadata.tencentyun.com"};
  std::string_view host = url.host;
  if (const auto v6 = parse_ipv6(host)) return is_link_local_v6(*v6);
  if (host.ends_with('.')) host.remove_suffix(1);
  if (const auto v4 = boost::urls::parse_ipv4_address(host))
    return is_link_local_v4(v4->to_bytes());
  return std::find(kNames.begin(), kNames.end(), host) != kNames.end();
}

}  // namespace smg
