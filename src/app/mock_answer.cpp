#include "smg/app/mock_answer.hpp"

#include <array>
#include <random>

#include "mock_shapes.hpp"

namespace smg::app {
namespace {

Json chat_message(const MockAnswer& answer) {
  if (answer.tool_name.empty()) return {{"role", "assistant"}, {"content", answer.text}};
  Json call = {{"id", id_of(answer, "call_")},
               {"type", "function"},
               {"function", {{"name", answer.tool_name}, {"arguments", answer.text}}}};
  return {
      {"role", "assistant"}, {"content", nullptr}, {"tool_calls", Json::array({std::move(call)})}};
}

Json chat(const MockAnswer& answer) {
  Json choice = {{"index", 0},
                 {"message", chat_message(answer)},
                 {"logprobs", nullptr},
                 {"finish_reason", finish_reason(answer)}};
  return {{"id", id_of(answer, "chatcmpl-")},
          {"object", "chat.completion"},
          {"created", answer.created},
          {"model", answer.model},
          {"choices", Json::array({std::move(choice)})},
          {"usage", usage_of(answer)}};
}

Json completion(const MockAnswer& answer) {
  Json choice = {{"index", 0},
                 {"text", answer.text},
                 {"logprobs", nullptr},
                 {"finish_reason", finish_reason(answer)}};
  return {{"id", id_of(answer, "cmpl-")},
          {"object", "text_completion"},
          {"created", answer.created},
          {"model", answer.model},
          {"choices", Json::array({std::move(choice)})},
          {"usage", usage_of(answer)}};
}

}  // namespace

std::string made_up_text(std::uint64_t seed, std::uint32_t tokens) {
  // Each word and its blank are one token.
  static constexpr std::array<std::string_view, 16> kWords = {
      "the ", "sun ", "and ", "sea ", "sky ", "far ", "old ", "way ",
      "one ", "day ", "oak ", "ice ", "red ", "fox ", "low ", "air "};
  std::mt19937_64 random(seed);
  std::string text;
  text.reserve(tokens * kBytesPerToken);
  for (std::uint32_t i = 0; i < tokens; ++i) text.append(kWords[random() % kWords.size()]);
  return text;
}

std::string whole_answer(const MockAnswer& answer) {
  switch (answer.api) {
    case MockApi::chat:
      return dump(chat(answer));
    case MockApi::completions:
      return dump(completion(answer));
    case MockApi::generate:
      return dump({{"text", answer.text},
                   {"meta_info", meta_info(answer, answer.completion_tokens(), true)}});
    case MockApi::messages:
      return dump(message_object(answer, Json::array({message_block(answer, true)}), true));
    case MockApi::responses:
      return dump(response_object(answer, true));
  }
  return {};
}

}  // namespace smg::app
