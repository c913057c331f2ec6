// Which header fields pass the gateway, and the heads it writes to either side.
//
// To the worker: all end-to-end fields in order, repeated ones too. Not: hop-by-hop fields and those
// named in Connection, Host, Expect, Content-Length, Transfer-Encoding, x-smg-routing-tokens,
// x-smg-target-worker; Authorization as UpstreamHead::authorization says; the request id as given.
// To the client: all end-to-end fields; not the worker's x-request-id, x-smg-routed-worker-id and
// x-smg-error-code. Appends to `out`, allocates nothing else.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "smg/protocol/http_head.hpp"

namespace smg::protocol {

struct UpstreamHead {
  std::string_view path_prefix;  // of the worker's URL, "" or "/x"
  std::string_view authority;    // Host
  std::string_view request_id;
  std::string_view worker_key;   // replaces the caller's Authorization when not empty
  // The gateway's own key: a caller's Authorization or x-api-key with this value is not passed on.
  std::string_view gateway_key;
  std::uint64_t content_length = 0;
  bool has_body = true;  // false: no Content-Length (GET, HEAD)
};
void write_request_head(std::string& out, const RequestHead& request, const UpstreamHead& options);

struct DownstreamHead {
  std::string_view request_id;
  std::string_view routed_worker;  // x-smg-routed-worker-id; empty: none
  int client_minor_version = 1;
  bool keep_alive = true;          // false: Connection: close
  // How the body goes to the client. length: Content-Length of the response is kept.
  Framing framing = Framing::length;
};
void write_response_head(std::string& out, const ResponseHead& response,
                         const DownstreamHead& options);

// One request id: the first of `names` that the request carries with up to 128 visible ASCII
// characters, else nothing.
std::optional<std::string_view> accepted_request_id(const RequestHead& request,
                                                    const std::vector<std::string>& names);
// "chatcmpl-", "cmpl-", "gnt-", "resp-", "msg_" or "req-" by path, then 24 random [A-Za-z0-9].
void append_generated_request_id(std::string& out, std::string_view path);

// Standard reason phrase, "" when unknown.
std::string_view reason_phrase(int status);

}  // namespace smg::protocol
