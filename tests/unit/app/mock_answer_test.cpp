#include "smg/app/mock_answer.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace smg::app {
namespace {

using nlohmann::json;

MockAnswer answer(MockApi api) {
  MockAnswer out;
  out.api = api;
  out.model = "m";
  out.number = 7;
  out.prompt_tokens = 100;
  out.cached_tokens = 64;
  out.text = "red fox sky ";
  return out;
}

struct Event {
  std::string name;
  json data;
};

// Splits a stream as an SSE client does.
std::vector<Event> events(const MockAnswer& answer) {
  MockStream stream(answer);
  std::string bytes = stream.begin();
  for (std::size_t i = 0; i < answer.text.size(); i += 4)
    bytes += stream.piece(answer.text.substr(i, 4));
  bytes += stream.end();
  std::vector<Event> out;
  while (!bytes.empty()) {
    const auto end = bytes.find("\n\n");
    EXPECT_NE(end, std::string::npos);
    if (end == std::string::npos) return out;
    std::string block = bytes.substr(0, end);
    bytes.erase(0, end + 2);
    Event event;
    if (block.starts_with("event: ")) {
      event.name = block.substr(7, block.find('\n') - 7);
      block.erase(0, block.find('\n') + 1);
    }
    EXPECT_TRUE(block.starts_with("data: ")) << block;
    const std::string data = block.substr(6);
    event.data = data == "[DONE]" ? json(data) : json::parse(data, nullptr, false);
    EXPECT_FALSE(event.data.is_discarded()) << data;
    out.push_back(event);
  }
  return out;
}

TEST(MadeUpText, HasThatManyTokensAndDependsOnTheSeedOnly) {
  EXPECT_EQ(made_up_text(1, 25).size(), 100U);
  EXPECT_EQ(made_up_text(1, 25), made_up_text(1, 25));
  EXPECT_NE(made_up_text(1, 25), made_up_text(2, 25));
}

TEST(WholeAnswer, ChatReportsCachedTokens) {
  const auto body = json::parse(whole_answer(answer(MockApi::chat)));
  EXPECT_EQ(body["object"], "chat.completion");
  EXPECT_EQ(body["choices"][0]["message"]["content"], "red fox sky ");
  EXPECT_EQ(body["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(body["usage"], json::parse(R"({"prompt_tokens":100,"completion_tokens":3,
      "total_tokens":103,"prompt_tokens_details":{"cached_tokens":64}})"));
}

TEST(WholeAnswer, OtherApisReportThemInTheirWay) {
  const auto completion = json::parse(whole_answer(answer(MockApi::completions)));
  EXPECT_EQ(completion["choices"][0]["text"], "red fox sky ");
  EXPECT_EQ(completion["usage"]["prompt_tokens_details"]["cached_tokens"], 64);
  const auto generate = json::parse(whole_answer(answer(MockApi::generate)));
  EXPECT_EQ(generate["text"], "red fox sky ");
  EXPECT_EQ(generate["meta_info"]["cached_tokens"], 64);
  const auto message = json::parse(whole_answer(answer(MockApi::messages)));
  EXPECT_EQ(message["content"][0]["text"], "red fox sky ");
  EXPECT_EQ(message["stop_reason"], "end_turn");
  EXPECT_EQ(message["usage"]["input_tokens"], 36);
  EXPECT_EQ(message["usage"]["cache_read_input_tokens"], 64);
  const auto response = json::parse(whole_answer(answer(MockApi::responses)));
  EXPECT_EQ(response["output"][0]["content"][0]["text"], "red fox sky ");
  EXPECT_EQ(response["status"], "completed");
  EXPECT_EQ(response["usage"]["input_tokens_details"]["cached_tokens"], 64);
}

TEST(WholeAnswer, SaysWhenTheLimitEndedIt) {
  const auto limited = [](MockApi api) {
    auto cut = answer(api);
    cut.length_limited = true;
    return json::parse(whole_answer(cut));
  };
  EXPECT_EQ(limited(MockApi::chat)["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(limited(MockApi::messages)["stop_reason"], "max_tokens");
  EXPECT_EQ(limited(MockApi::responses)["incomplete_details"]["reason"], "max_output_tokens");
  EXPECT_EQ(limited(MockApi::generate)["meta_info"]["finish_reason"]["type"], "length");
}

MockAnswer tool_call(MockApi api) {
  auto out = answer(api);
  out.tool_name = "get_weather";
  out.text = R"({"city":"Paris"})";
  return out;
}

TEST(WholeAnswer, CallsTools) {
  const auto chat = json::parse(whole_answer(tool_call(MockApi::chat)));
  EXPECT_EQ(chat["choices"][0]["finish_reason"], "tool_calls");
  EXPECT_TRUE(chat["choices"][0]["message"]["content"].is_null());
  EXPECT_EQ(chat["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"],
            R"({"city":"Paris"})");
  const auto message = json::parse(whole_answer(tool_call(MockApi::messages)));
  EXPECT_EQ(message["stop_reason"], "tool_use");
  EXPECT_EQ(message["content"][0]["input"]["city"], "Paris");
  const auto response = json::parse(whole_answer(tool_call(MockApi::responses)));
  EXPECT_EQ(response["output"][0]["type"], "function_call");
  EXPECT_EQ(response["output"][0]["arguments"], R"({"city":"Paris"})");
}

TEST(StreamedAnswer, ChatIsChunksThenUsageThenDone) {
  auto asked = answer(MockApi::chat);
  asked.include_usage = true;
  const auto got = events(asked);
  ASSERT_EQ(got.size(), 7U);
  EXPECT_EQ(got[0].data["choices"][0]["delta"]["role"], "assistant");
  std::string text;
  for (const auto& event : got) {
    if (event.data.is_object() && !event.data["choices"].empty()) {
      text += event.data["choices"][0]["delta"].value("content", "");
    }
  }
  EXPECT_EQ(text, "red fox sky ");
  EXPECT_EQ(got[4].data["choices"][0]["finish_reason"], "stop");
  EXPECT_TRUE(got[5].data["choices"].empty());
  EXPECT_EQ(got[5].data["usage"]["prompt_tokens_details"]["cached_tokens"], 64);
  EXPECT_EQ(got[6].data, "[DONE]");

  const auto without = events(answer(MockApi::chat));
  EXPECT_EQ(without.size(), 6U);
}

TEST(StreamedAnswer, ChatCallsToolsPieceByPiece) {
  const auto got = events(tool_call(MockApi::chat));
  const auto& head = got[1].data["choices"][0]["delta"]["tool_calls"][0];
  EXPECT_EQ(head["function"]["name"], "get_weather");
  std::string arguments;
  for (const auto& event : got) {
    if (!event.data.is_object()) continue;
    const auto delta = event.data["choices"][0]["delta"];
    if (delta.contains("tool_calls")) {
      arguments += delta["tool_calls"][0]["function"]["arguments"].get<std::string>();
    }
  }
  EXPECT_EQ(arguments, R"({"city":"Paris"})");
  EXPECT_EQ(got[got.size() - 2].data["choices"][0]["finish_reason"], "tool_calls");
}

TEST(StreamedAnswer, CompletionsAndGenerateEndWithDone) {
  const auto completions = events(answer(MockApi::completions));
  EXPECT_EQ(completions.front().data["choices"][0]["text"], "red ");
  EXPECT_EQ(completions.back().data, "[DONE]");
  const auto generate = events(answer(MockApi::generate));
  ASSERT_EQ(generate.size(), 4U);
  EXPECT_EQ(generate[1].data["text"], "red fox ");
  EXPECT_TRUE(generate[1].data["meta_info"]["finish_reason"].is_null());
  EXPECT_EQ(generate[2].data["meta_info"]["finish_reason"]["type"], "stop");
}

TEST(StreamedAnswer, MessagesHaveTheOrderOfTheirApi) {
  std::vector<std::string> names;
  for (const auto& event : events(answer(MockApi::messages))) {
    EXPECT_EQ(event.data["type"], event.name);
    names.push_back(event.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"message_start", "content_block_start", "ping",
                                             "content_block_delta", "content_block_delta",
                                             "content_block_delta", "content_block_stop",
                                             "message_delta", "message_stop"}));
  const auto got = events(tool_call(MockApi::messages));
  EXPECT_EQ(got[1].data["content_block"]["type"], "tool_use");
  std::string arguments;
  for (const auto& event : got) {
    if (event.name == "content_block_delta") {
      arguments += event.data["delta"]["partial_json"].get<std::string>();
    }
  }
  EXPECT_EQ(arguments, R"({"city":"Paris"})");
}

TEST(StreamedAnswer, ResponsesAreNumberedAndEndComplete) {
  const auto got = events(answer(MockApi::responses));
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].data["type"], got[i].name);
    EXPECT_EQ(got[i].data["sequence_number"], i);
  }
  EXPECT_EQ(got.front().name, "response.created");
  EXPECT_EQ(got.back().name, "response.completed");
  EXPECT_EQ(got.back().data["response"]["usage"]["output_tokens"], 3);
  const auto calls = events(tool_call(MockApi::responses));
  EXPECT_EQ(calls[3].name, "response.function_call_arguments.delta");
  EXPECT_EQ(calls.back().data["response"]["output"][0]["name"], "get_weather");
}

}  // namespace
}  // namespace smg::app
