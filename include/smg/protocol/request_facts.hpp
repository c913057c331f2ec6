// What routing needs to know of a request body, from one pass over its bytes. Pure.
//
// The pass checks that the body is one JSON object (RFC 8259, UTF-8, at most 512 levels, no
// recursion) and that `model`, where present and not null, is a string; all else is the engine's
// to judge. The last of two equal keys counts. Views point into the body or into `scratch`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smg/base/error.hpp"

namespace smg::protocol {

// How an endpoint's routing text and token ids are found in its body.
enum class BodyKind : std::uint8_t {
  chat,         // messages[].content, .reasoning_content
  completions,  // prompt
  generate,     // input_ids (tokens), else text
  messages,     // system, messages[].content
  responses,    // input
  input,        // embeddings, classify: input
  rerank,       // query
  score,        // text_1, else query, else text
  tokenize,     // prompt, else text; chat messages when present. detokenize: nothing
  opaque,       // no routing text
};

// Reused from request to request, it saves allocations. RequestFacts says what of it counts.
struct FactsScratch {
  std::string text;   // joined and unescaped routing text, and what is left of earlier ones
  std::string model;  // unescaped model name, if it had escapes
  std::vector<std::uint32_t> tokens;
};

struct RequestFacts {
  std::string_view model;  // empty: absent or null
  bool stream = false;     // "stream": true
  std::string_view text;   // valid UTF-8; empty when tokens are present or want_text is false
  std::vector<std::uint32_t>* tokens = nullptr;  // in scratch, non-empty; null: none
};

struct FactsOptions {
  BodyKind kind = BodyKind::opaque;
  bool want_key = true;  // false: skip text and tokens (the policy does not look at them)
};

// Text rules: non-empty pieces joined by one space. Chat: messages in order, content string or its
// parts of type `text`; of an assistant also `reasoning_content`; nothing of tool calls, names,
// images. A string array (prompt, input) is joined by one space. A lone surrogate escape counts as
// U+FFFD. /generate: `input_ids` list, or the first of a list of lists, wins over `text`; ids are
// 32-bit, negative ones keep their bits.
// Errors: Errc::invalid_argument with a detail fit for the client, Side::downstream. The message
// distinguishes "not JSON" (ErrorCode::invalid_json) from a wrong type by `field`.
struct FactsError {
  bool json = true;        // true: not a JSON object; false: `field` has the wrong type
  std::string_view field;  // static storage
  std::string message;
};
std::optional<FactsError> read_facts(std::string_view body, const FactsOptions& options,
                                     FactsScratch& scratch, RequestFacts& out);

// `x-smg-routing-tokens`: 1..512 decimal u32 separated by commas, nothing else, at most 4096 bytes.
// False (and an empty `out`): ignore the header.
bool parse_routing_tokens(std::string_view value, std::vector<std::uint32_t>& out);

}  // namespace smg::protocol
