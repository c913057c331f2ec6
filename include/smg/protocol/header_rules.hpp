// Which header fields pass the gateway, and the heads it writes to either side. Pure, but for the
// random numbers of request ids. Appends to `out`, allocates nothing else.
//
// To the worker: all end-to-end fields in order, repeated ones too. Not: hop-by-hop fields, Host,
// Expect, Content-Length, x-request-id, x-smg-routing-tokens, x-smg-target-worker; Authorization
// and x-api-key as UpstreamHead says. To the client: all end-to-end fields; not the worker's
// x-request-id, x-smg-routed-worker-id and x-smg-error-code.
//
// Hop-by-hop are Connection and what it names, Keep-Alive, Proxy-Connection, Proxy-Authenticate,
// Proxy-Authorization, TE, Trailer, Transfer-Encoding, Upgrade, HTTP2-Settings. A Connection field
// must not name what every recipient needs (RFC 9110, 7.6.1), and some do so to make a proxy strip
// what another one set: credentials, cookies, content-*, accept*, cache-control, forwarded,
// x-forwarded-*, x-real-ip, x-smg-*, traceparent and their like stay whatever it names.
//
// The messages given are as parsed. No option and no value can add a line to a head: control
// characters are written as a space.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smg/protocol/http_head.hpp"

namespace smg::protocol {

struct UpstreamHead {
  std::string_view path_prefix;  // of the worker's URL, "" or "/x"
  std::string_view authority;    // Host
  std::string_view request_id;   // x-request-id; empty: none
  std::string_view worker_key;   // "Bearer <key>" replaces the caller's Authorization; empty: none
  // The gateway's own key: a caller's Authorization (whatever its scheme) or x-api-key with this
  // value is not passed on. Empty: none.
  std::string_view gateway_key;
  std::uint64_t content_length = 0;
  bool has_body = true;  // false: no Content-Length (GET, HEAD)
};
void write_request_head(std::string& out, const RequestHead& request, const UpstreamHead& options);

struct DownstreamHead {
  std::string_view request_id;     // empty: none
  std::string_view routed_worker;  // x-smg-routed-worker-id; empty: none
  int client_minor_version = 1;
  bool keep_alive = true;  // false: Connection: close
  // How the body goes to the client. length, none: Content-Length of the response is kept where it
  // has one (HEAD, 304), never with 1xx and 204. until_close implies Connection: close; it is what
  // a client of HTTP/1.0 gets in place of chunked.
  Framing framing = Framing::length;
};
void write_response_head(std::string& out, const ResponseHead& response,
                         const DownstreamHead& options);

// The head of an answer that the gateway makes itself.
struct GatewayHead {
  int status = 200;
  std::string_view content_type;      // empty: none
  Framing framing = Framing::length;  // or chunked, or until_close
  std::uint64_t content_length = 0;   // with Framing::length; not written with 1xx, 204 and 304
  std::string_view request_id;        // x-request-id; empty: none
  // Further fields. One is left out if its name is no token, or if it is hop-by-hop or
  // Content-Length, which are not the caller's to set.
  std::span<const HeaderField> fields;
  int client_minor_version = 1;
  bool keep_alive = true;
};
void write_gateway_head(std::string& out, const GatewayHead& options);

// What tells a client that waits (RequestHead::expect_continue) to send its body.
inline constexpr std::string_view kContinueHead = "HTTP/1.1 100 Continue\r\n\r\n";

// Whether the request shows that key: `Authorization: Bearer <key>` (the scheme in any case) or
// `x-api-key: <key>`. False for an empty key. The time it takes tells no more than the key's
// length.
bool presents_key(const RequestHead& request, std::string_view key);

// One request id: the first of `names` that the request carries with up to 128 visible ASCII
// characters, else nothing.
std::optional<std::string_view> accepted_request_id(const RequestHead& request,
                                                    const std::vector<std::string>& names);
// "chatcmpl-", "cmpl-", "gnt-", "resp-", "msg_" or "req-" by path, then 24 random [A-Za-z0-9].
void append_generated_request_id(std::string& out, std::string_view path);

// Standard reason phrase, "" when unknown.
std::string_view reason_phrase(int status);

}  // namespace smg::protocol
