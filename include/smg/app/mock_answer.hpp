// Prints a simulated answer in the format of its API, whole or as a stream of events. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "smg/app/mock_request.hpp"

namespace smg::app {

struct MockAnswer {
  MockApi api = MockApi::chat;
  std::string model;
  std::uint64_t number = 0;  // of the answer: makes its ids
  std::int64_t created = 0;  // Unix time
  std::uint64_t prompt_tokens = 0;
  std::uint64_t cached_tokens = 0;
  std::string text;       // what is said, or the arguments of the call
  std::string tool_name;  // empty: no call
  bool length_limited = false;
  bool include_usage = false;

  std::uint64_t completion_tokens() const {
    return (text.size() + kBytesPerToken - 1) / kBytesPerToken;
  }
};

// Made-up text of exactly that many tokens; equal seeds make equal texts.
std::string made_up_text(std::uint64_t seed, std::uint32_t tokens);

std::string whole_answer(const MockAnswer& answer);

// The same answer as server-sent events: begin(), piece() for every run of `text`, end().
class MockStream {
 public:
  explicit MockStream(const MockAnswer& answer) : answer_(answer) {}
  std::string begin();
  std::string piece(std::string_view text);
  std::string end();

 private:
  void event(std::string& out, std::string_view name, std::string data);
  const MockAnswer& answer_;
  std::size_t said_ = 0;        // bytes of the text that have been sent
  std::uint64_t sequence_ = 0;  // of events of the responses API
};

}  // namespace smg::app
