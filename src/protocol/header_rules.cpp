#include "smg/protocol/header_rules.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "char_class.hpp"
#include "credential.hpp"
#include "field_rule.hpp"

namespace smg::protocol {
namespace {

// The fields that a message's Connection fields name.
class ConnectionOptions {
 public:
  explicit ConnectionOptions(const std::vector<HeaderField>& fields) : fields_(fields) {
    // Most messages name nothing, or just one of these two, which are no fields to drop.
    for (const HeaderField& field : fields) {
      any_ = any_ || (is_connection(field) && !equals_folded(field.value, "keep-alive") &&
                      !equals_folded(field.value, "close"));
    }
  }

  bool drop(std::string_view name) const {
    if (!any_ || is_always_end_to_end(name)) return false;
    return std::any_of(fields_.begin(), fields_.end(), [name](const HeaderField& field) {
      return is_connection(field) && has_token(field.value, name);
    });
  }

 private:
  static bool is_connection(const HeaderField& field) {
    return equals_folded(field.name, "connection");
  }

  const std::vector<HeaderField>& fields_;
  bool any_ = false;
};

// Whatever is no part of a field value becomes a space, line ends above all.
void append_clean(std::string& out, std::string_view text) {
  const char* p = text.data();
  const char* const end = p + text.size();
  for (;;) {
    const char* const bad = skip_value_chars(p, end);
    out.append(p, bad);
    if (bad == end) return;
    out.push_back(' ');
    p = bad + 1;
  }
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ");
  append_clean(out, value);
  out.append("\r\n");
}

// A field of a parsed message: it has nothing to be cleaned of.
void append_parsed(std::string& out, const HeaderField& field) {
  const std::size_t at = out.size();
  out.resize(at + field.name.size() + field.value.size() + 4);
  char* to = std::copy(field.name.begin(), field.name.end(), out.data() + at);
  *to++ = ':';
  *to++ = ' ';
  to = std::copy(field.value.begin(), field.value.end(), to);
  *to++ = '\r';
  *to = '\n';
}

void append_number(std::string& out, std::uint64_t number) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

void append_content_length(std::string& out, std::uint64_t length) {
  out.append("Content-Length: ");
  append_number(out, length);
  out.append("\r\n");
}

void append_status_line(std::string& out, int status, std::string_view reason) {
  out.append("HTTP/1.1 ");
  append_number(out, static_cast<std::uint64_t>(std::clamp(status, 100, 999)));
  out.push_back(' ');
  append_clean(out, reason.empty() ? reason_phrase(status) : reason);
  out.append("\r\n");
}

// An answer to HTTP/1.0 says that the connection stays, one to 1.1 that it ends.
void append_connection(std::string& out, bool keep_alive, int client_minor_version) {
  if (!keep_alive) {
    out.append("Connection: close\r\n");
  } else if (client_minor_version == 0) {
    out.append("Connection: keep-alive\r\n");
  }
}

bool has_no_content_length(int status) { return status < 200 || status == 204; }

bool passes_to_worker(const HeaderField& field, const UpstreamHead& options) {
  const unsigned rules = rules_of(field.name);
  if (rules == 0) return true;
  if ((rules & (kHopByHop | kNotToWorker)) != 0) return false;
  if (!options.worker_key.empty() && equals_folded(field.name, "authorization")) return false;
  return (rules & kCredential) == 0 || !holds_key(field, options.gateway_key);
}

}  // namespace

void write_request_head(std::string& out, const RequestHead& request, const UpstreamHead& options) {
  out.append(request.method).push_back(' ');
  if (request.target != "*") append_clean(out, options.path_prefix);
  out.append(request.target).append(" HTTP/1.1\r\n");
  append_field(out, "Host", options.authority);
  const ConnectionOptions named(request.fields);
  for (const HeaderField& field : request.fields) {
    if (!passes_to_worker(field, options) || named.drop(field.name)) continue;
    append_parsed(out, field);
  }
  if (!options.worker_key.empty()) {
    out.append("Authorization: Bearer ");
    append_clean(out, options.worker_key);
    out.append("\r\n");
  }
  if (!options.request_id.empty()) append_field(out, "x-request-id", options.request_id);
  if (options.has_body) append_content_length(out, options.content_length);
  out.append("\r\n");
}

void write_response_head(std::string& out, const ResponseHead& response,
                         const DownstreamHead& options) {
  append_status_line(out, response.status, response.reason);
  const ConnectionOptions named(response.fields);
  bool length_declared = false;
  for (const HeaderField& field : response.fields) {
    const unsigned rules = rules_of(field.name);
    length_declared = length_declared || (rules & kContentLength) != 0;
    if ((rules & (kHopByHop | kNotToClient)) != 0 || named.drop(field.name)) continue;
    append_parsed(out, field);
  }
  if (!options.request_id.empty()) append_field(out, "x-request-id", options.request_id);
  if (!options.routed_worker.empty()) {
    append_field(out, "x-smg-routed-worker-id", options.routed_worker);
  }
  const bool bodyless = has_no_content_length(response.status);
  if (options.framing == Framing::chunked) {
    if (!bodyless) out.append("Transfer-Encoding: chunked\r\n");
  } else if (options.framing != Framing::until_close && length_declared && !bodyless) {
    append_content_length(out, response.content_length);
  }
  append_connection(out, options.keep_alive && options.framing != Framing::until_close,
                    options.client_minor_version);
  out.append("\r\n");
}

void write_gateway_head(std::string& out, const GatewayHead& options) {
  append_status_line(out, options.status, {});
  if (!options.content_type.empty()) append_field(out, "Content-Type", options.content_type);
  if (options.framing == Framing::chunked) {
    append_field(out, "Transfer-Encoding", "chunked");
  } else if (options.framing == Framing::length && !has_no_content_length(options.status) &&
             options.status != 304) {
    append_content_length(out, options.content_length);
  }
  if (!options.request_id.empty()) append_field(out, "x-request-id", options.request_id);
  for (const HeaderField& field : options.fields) {
    const bool ours = (rules_of(field.name) & (kHopByHop | kContentLength)) != 0;
    if (is_token(field.name) && !ours) append_field(out, field.name, field.value);
  }
  append_connection(out, options.keep_alive, options.client_minor_version);
  out.append("\r\n");
}

}  // namespace smg::protocol
