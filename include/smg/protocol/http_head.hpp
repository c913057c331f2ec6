// HTTP/1.1 message heads (RFC 9112), strictly: what is ambiguous is refused, so that no peer can
// see another message than we do. Zero-copy: fields are views into the caller's bytes. Pure.
//
// Refused: bare CR or LF, obs-fold, white space before the colon, NUL and other control characters
// in values, an empty or repeated or signed Content-Length, Content-Length together with
// Transfer-Encoding, any Transfer-Encoding but a single final "chunked", Transfer-Encoding in
// HTTP/1.0, a request without exactly one Host (HTTP/1.1) or with more than one (1.0) or one that
// is no host, versions other than 1.0 and 1.1 (an h2 preface too), targets that are neither
// origin-form, absolute-form (http/https; reduced to origin-form; not with a query on an empty
// path) nor `*` for OPTIONS; CONNECT; Connection fields of more than 1 KiB together; a 101 answer.
// Tolerated: one empty line (CRLF) before a request line (RFC 9112, 2.2); a status line without
// reason and the space before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace smg::protocol {

struct HeaderField {
  std::string_view name;   // as sent
  std::string_view value;  // without surrounding white space
};

struct HeadLimits {
  std::size_t max_bytes = 64 * 1024;  // start line and fields together
  std::size_t max_fields = 256;
  std::size_t max_target = 16 * 1024;
};

// How a message's body ends.
enum class Framing : std::uint8_t { none, length, chunked, until_close };

enum class HeadError : std::uint8_t {
  none,
  bad_message,          // 400
  headers_too_large,    // 431
  target_too_long,      // 414
  unsupported_version,  // 505
  bad_transfer_coding,  // 501: a coding we do not speak
};
const char* to_string(HeadError error);

// Finds the end of a head in a buffer that grows: feed it the whole buffer each time; it looks only
// at bytes it has not seen. Notices a bare LF or an impossible first byte as soon as it comes, and
// the size limit: target_too_long when not even the start line fits. reset() before the next head.
class HeadScanner {
 public:
  // Bytes of the head with its final CRLFCRLF, or 0 while it is incomplete (see error()).
  std::size_t scan(std::string_view buffer, const HeadLimits& limits);
  HeadError error() const { return error_; }
  void reset() { *this = HeadScanner{}; }

 private:
  std::size_t seen_ = 0;        // bytes looked at
  std::size_t line_start_ = 0;  // of the line that is incomplete
  bool start_line_seen_ = false;
  HeadError error_ = HeadError::none;
};

struct RequestHead {
  std::string_view method;
  std::string_view target;  // origin-form: path and query
  std::string_view path;    // target without the query
  std::string_view query;   // without '?'
  int minor_version = 1;
  std::vector<HeaderField> fields;  // in order, repeated ones too; reused between messages
  Framing framing = Framing::none;
  std::uint64_t content_length = 0;  // with Framing::length
  bool keep_alive = true;            // what the client allows
  bool expect_continue = false;      // it waits for 100 (Continue) before the body

  // First field of that name (case-insensitive); null data() when absent.
  std::string_view field(std::string_view name) const;
};

struct ResponseHead {
  int status = 0;  // 100..999
  std::string_view reason;
  int minor_version = 1;
  std::vector<HeaderField> fields;
  Framing framing = Framing::none;
  std::uint64_t content_length = 0;  // as declared, also for HEAD
  bool keep_alive = true;            // whether the connection can be used again

  std::string_view field(std::string_view name) const;
};

// `head` is exactly what HeadScanner delimited. On success every member of `out` is set; its views
// lie in `head`, but for the target "/" or "*" of an absolute-form without a path.
HeadError parse_request_head(std::string_view head, const HeadLimits& limits, RequestHead& out);
// `head_request`: the answer to HEAD has no body whatever it declares; 1xx, 204 and 304 neither.
HeadError parse_response_head(std::string_view head, const HeadLimits& limits, bool head_request,
                              ResponseHead& out);

// ASCII case-insensitive equality.
bool iequals(std::string_view a, std::string_view b);
// Whether a comma-separated field value has that token (case-insensitive).
bool has_token(std::string_view value, std::string_view token);
// A token of RFC 9110: what a field name or a method may be.
bool is_token(std::string_view text);

}  // namespace smg::protocol
