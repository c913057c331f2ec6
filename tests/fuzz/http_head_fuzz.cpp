// Heads of requests and answers: views lie in the input, a byte at a time gives the same as all at
// once, and what is parsed, written and parsed again is one and the same request.
#include <string>

#include "fuzz_input.hpp"
#include "smg/protocol/http_head.hpp"

namespace smg::protocol {
namespace {

using fuzz::lies_in;
using fuzz::require;

const HeadLimits kLimits{.max_bytes = 4096, .max_fields = 32, .max_target = 512};

void check_fields(const std::vector<HeaderField>& fields, std::string_view head) {
  require(fields.size() <= kLimits.max_fields, "field limit");
  for (const HeaderField& field : fields) {
    require(lies_in(field.name, head) && lies_in(field.value, head), "field lies in the head");
    require(is_token(field.name), "name is a token");
    for (const char c : field.value) {
      const auto byte = static_cast<unsigned char>(c);
      require((byte >= 0x20 || byte == '\t') && byte != 0x7f, "value has no control character");
    }
  }
}

std::string written(const RequestHead& request) {
  std::string out(request.method);
  out.append(" ")
      .append(request.target)
      .append(" HTTP/1.")
      .append(request.minor_version == 1 ? "1\r\n" : "0\r\n");
  for (const HeaderField& field : request.fields) {
    out.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  return out + "\r\n";
}

void check_request(std::string_view head) {
  RequestHead request;
  if (parse_request_head(head, kLimits, request) != HeadError::none) return;
  check_fields(request.fields, head);
  require(lies_in(request.method, head), "method lies in the head");
  require(lies_in(request.target, head) || request.target == "/" || request.target == "*",
          "target lies in the head");
  require(request.target.size() <= kLimits.max_target, "target limit");
  require(request.target.front() == '/' || request.target == "*", "target is in origin-form");
  require(request.path.size() + request.query.size() <= request.target.size(), "path and query");

  const std::string again = written(request);
  HeadScanner scanner;
  const HeadLimits roomy{.max_bytes = 8192, .max_fields = 32, .max_target = 512};
  require(scanner.scan(again, roomy) == again.size(), "written head is one head");
  RequestHead second;
  require(parse_request_head(again, roomy, second) == HeadError::none, "written head is sound");
  require(second.method == request.method && second.target == request.target, "same request line");
  require(second.framing == request.framing && second.content_length == request.content_length &&
              second.keep_alive == request.keep_alive &&
              second.expect_continue == request.expect_continue,
          "same framing");
  require(second.fields.size() == request.fields.size(), "same fields");
}

void check_response(std::string_view head, bool head_request) {
  ResponseHead response;
  if (parse_response_head(head, kLimits, head_request, response) != HeadError::none) return;
  check_fields(response.fields, head);
  require(lies_in(response.reason, head), "reason lies in the head");
  require(response.status >= 100 && response.status <= 999 && response.status != 101, "status");
  require(response.framing != Framing::until_close || !response.keep_alive, "closed at its end");
}

}  // namespace
}  // namespace smg::protocol

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smg::protocol;
  const std::string_view input = smg::fuzz::as_text(data, size);

  HeadScanner whole;
  const std::size_t end = whole.scan(input, kLimits);
  HeadScanner slow;
  std::size_t slow_end = 0;
  for (std::size_t seen = 1; seen <= size && slow_end == 0; ++seen) {
    slow_end = slow.scan(input.substr(0, seen), kLimits);
    if (slow.error() != HeadError::none) break;
  }
  smg::fuzz::require(end == slow_end && whole.error() == slow.error(), "byte by byte as at once");

  // The parsers must also stand what no scanner has seen.
  for (const std::string_view head : {input.substr(0, end), input}) {
    check_request(head);
    check_response(head, false);
    check_response(head, true);
  }
  return 0;
}
