// Heads that the gateway writes: whatever a peer or an option holds, the next one reads exactly one
// message, with the framing that was meant and none of the fields that stop here.
#include <string>

#include "fuzz_input.hpp"
#include "smg/protocol/header_rules.hpp"

namespace smg::protocol {
namespace {

using fuzz::require;

const HeadLimits kLimits{.max_bytes = 1 << 20, .max_fields = 300, .max_target = 1 << 19};
constexpr std::string_view kKey = "key";

std::size_t count(const std::vector<HeaderField>& fields, std::string_view name) {
  std::size_t found = 0;
  for (const HeaderField& field : fields) found += iequals(field.name, name) ? 1 : 0;
  return found;
}

void require_no_hop_by_hop(const std::vector<HeaderField>& fields) {
  for (const char* name : {"keep-alive", "proxy-connection", "proxy-authenticate", "te", "trailer",
                           "proxy-authorization", "upgrade", "http2-settings"}) {
    require(count(fields, name) == 0, name);
  }
}

// One head and nothing behind it.
void require_one_head(const std::string& head) {
  HeadScanner scanner;
  require(scanner.scan(head, kLimits) == head.size(), "written head is one head");
}

void check_upstream(const RequestHead& request, bool has_body, bool worker_key) {
  UpstreamHead options;
  options.authority = "worker";
  options.request_id = "id";
  options.gateway_key = kKey;
  options.worker_key = worker_key ? "other" : "";
  options.has_body = has_body;
  options.content_length = 7;
  std::string head;
  write_request_head(head, request, options);
  require_one_head(head);
  RequestHead sent;
  require(parse_request_head(head, kLimits, sent) == HeadError::none, "worker's head is sound");
  require(sent.method == request.method && sent.target == request.target, "same request");
  require(sent.framing == (has_body ? Framing::length : Framing::none), "framing");
  require(sent.content_length == (has_body ? 7u : 0u), "length");
  require(sent.keep_alive && !sent.expect_continue && sent.minor_version == 1, "connection");
  require(sent.field("host") == "worker" && count(sent.fields, "host") == 1, "host");
  require(sent.field("x-request-id") == "id" && count(sent.fields, "x-request-id") == 1, "id");
  require_no_hop_by_hop(sent.fields);
  require(count(sent.fields, "connection") + count(sent.fields, "expect") == 0, "connection");
  require(count(sent.fields, "x-smg-routing-tokens") == 0, "routing tokens");
  require(!presents_key(sent, kKey), "the gateway's key stays here");
  if (worker_key) require(count(sent.fields, "authorization") == 1, "one authorization");
}

void check_downstream(const ResponseHead& response, Framing framing) {
  DownstreamHead options;
  options.request_id = "id";
  options.framing = framing;
  options.keep_alive = framing != Framing::until_close;
  std::string head;
  write_response_head(head, response, options);
  require_one_head(head);
  ResponseHead sent;
  require(parse_response_head(head, kLimits, framing == Framing::none, sent) == HeadError::none,
          "client's head is sound");
  require(sent.status == response.status, "status");
  require(sent.framing == framing || sent.framing == Framing::none, "framing");
  if (framing == Framing::length) {
    require(sent.content_length == response.content_length, "length");
  }
  require(sent.field("x-request-id") == "id" && count(sent.fields, "x-request-id") == 1, "id");
  require(count(sent.fields, "x-smg-error-code") == 0, "error code");
  require_no_hop_by_hop(sent.fields);
}

// `text` in every place of a head of our own.
void check_gateway_head(std::string_view text) {
  const HeaderField fields[] = {{text, text}, {"X-A", text}, {text.substr(text.size() / 2), "b"}};
  GatewayHead options;
  options.content_type = text;
  options.content_length = 3;
  options.request_id = text;
  options.fields = fields;
  std::string head;
  write_gateway_head(head, options);
  require_one_head(head);
  ResponseHead sent;
  require(parse_response_head(head, kLimits, false, sent) == HeadError::none, "own head is sound");
  require(sent.framing == Framing::length && sent.content_length == 3, "framing");
  require(sent.keep_alive, "nothing ends the connection");
  require(sent.fields.size() <= 6, "no further field");
}

}  // namespace
}  // namespace smg::protocol

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smg::protocol;
  const std::string_view input = smg::fuzz::as_text(data, size);
  RequestHead request;
  if (parse_request_head(input, HeadLimits{}, request) == HeadError::none) {
    for (const bool has_body : {false, true}) {
      check_upstream(request, has_body, false);
      check_upstream(request, has_body, true);
    }
  }
  for (const bool head_request : {false, true}) {
    ResponseHead response;
    if (parse_response_head(input, HeadLimits{}, head_request, response) == HeadError::none) {
      check_downstream(response, response.framing);
    }
  }
  if (size < 4096) check_gateway_head(input);
  return 0;
}
