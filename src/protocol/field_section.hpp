// The header fields of one message and what its framing hangs on. Private to the protocol layer.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "smg/protocol/http_head.hpp"

namespace smg::protocol {

struct FieldSection {
  std::uint64_t content_length = 0;
  std::uint32_t hosts = 0;             // fields named Host
  std::uint32_t connection_bytes = 0;  // of all Connection values
  bool has_content_length = false;
  bool chunked = false;          // one Transfer-Encoding, and it is "chunked"
  bool close = false;            // Connection: close
  bool keep_alive = false;       // Connection: keep-alive
  bool expect_continue = false;  // Expect: 100-continue
};

// `text` is the head after its start line, with the empty line that ends it.
HeadError parse_field_section(std::string_view text, const HeadLimits& limits,
                              std::vector<HeaderField>& fields, FieldSection& out);

}  // namespace smg::protocol
