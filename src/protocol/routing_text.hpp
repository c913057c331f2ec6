// Where the routing text is inside the value of one member of a body. Reads and validates in the
// same pass; a value of another shape than expected contributes no text and is no error.
#pragma once

#include <cstdint>

#include "smg/protocol/json_scanner.hpp"
#include "text_joiner.hpp"

namespace smg::protocol {

enum class TextShape : std::uint8_t {
  string,
  strings,             // a string, or an array whose strings are joined (empty ones too)
  blocks,              // a string, or parts of type `text`
  chat_messages,       // content: string or `text` parts; reasoning_content of an assistant
  anthropic_messages,  // content: string or `text` blocks
  response_items,      // a string, or messages and reasoning items
};

// Consumes the value at the scanner's cursor and adds its text to the joiner's open section.
void read_text(JsonScanner& scanner, TextShape shape, TextJoiner& joiner);

}  // namespace smg::protocol
