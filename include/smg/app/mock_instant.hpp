// The simulated engine's answers that need no queue: embeddings, rerank, classify, score, tokens.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "smg/app/mock_request.hpp"

namespace smg::app {

enum class MockInstant : std::uint8_t {
  embeddings,
  rerank,
  classify,
  score,
  tokenize,
  detokenize,  // gives back what tokenize took apart
  count_tokens
};

// Writes the answer to `out`, or returns what is wrong with the body.
std::optional<MockError> answer_instant(MockInstant api, std::string_view body,
                                        const MockOptions& options, std::string& out);

}  // namespace smg::app
