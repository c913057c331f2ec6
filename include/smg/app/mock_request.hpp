// Reads a generation request of any API that the simulated engine speaks. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "smg/app/mock_cache.hpp"
#include "smg/app/mock_options.hpp"
#include "smg/protocol/error_body.hpp"

namespace smg::app {

enum class MockApi : std::uint8_t { chat, completions, generate, messages, responses };

struct MockRequest {
  MockApi api = MockApi::chat;
  std::string model;
  bool stream = false;
  bool include_usage = false;  // chat, completions: a last piece with the usage

  // The prompt as the engine's template writes it, and what its cache sees of it. Prompts given as
  // token ids have no text.
  std::string text;
  std::string salt;
  MockPrompt prompt;

  // The answer: that many tokens of made-up text, or a call of a tool.
  std::uint32_t output_tokens = 0;
  bool length_limited = false;  // the request's limit is what ends it
  std::string tool_name;
  std::string tool_arguments;  // JSON, ASCII
};

struct MockError {
  protocol::ErrorCode code = protocol::ErrorCode::invalid_request;
  std::string message;
  std::string_view param = {};  // static storage
};

// A tool is called when the last message is the user's and either the request demands a call or the
// message has the tool's name or a word of it; arguments are made up from the tool's schema.
std::optional<MockError> read_mock_request(MockApi api, std::string_view body,
                                           const MockOptions& options, MockRequest& out);

}  // namespace smg::app
