#include "smg/app/mock_request.hpp"

#include <gtest/gtest.h>

#include <string>

namespace smg::app {
namespace {

using protocol::ErrorCode;

MockOptions options() {
  MockOptions out;
  out.model = "m";
  out.block_size = 2;
  out.output_tokens = 32;
  return out;
}

MockRequest good(MockApi api, const std::string& body) {
  MockRequest request;
  const auto error = read_mock_request(api, body, options(), request);
  EXPECT_FALSE(error) << error->message;
  return request;
}

MockError bad(MockApi api, const std::string& body) {
  MockRequest request;
  return read_mock_request(api, body, options(), request).value_or(MockError{ErrorCode{}, "none"});
}

TEST(MockRequest, TheNextTurnBeginsWithThisOneAndItsAnswer) {
  const auto first =
      good(MockApi::chat, R"({"model":"m","messages":[{"role":"system","content":"Be brief."},
                              {"role":"user","content":"Hi"}]})");
  const auto second =
      good(MockApi::chat, R"({"model":"m","messages":[{"role":"system","content":"Be brief."},
                              {"role":"user","content":[{"type":"text","text":"Hi"}]},
                              {"role":"assistant","content":"red fox"},
                              {"role":"user","content":"More"}]})");
  EXPECT_TRUE(second.text.starts_with(first.text + "red fox"));
  EXPECT_EQ(first.prompt.tokens, (first.text.size() + 3) / 4);
}

TEST(MockRequest, EachApiHasItsPrompt) {
  EXPECT_EQ(good(MockApi::completions, R"({"model":"m","prompt":"one two"})").text, "one two");
  EXPECT_EQ(good(MockApi::completions, R"({"model":"m","prompt":["one"]})").text, "one");
  EXPECT_EQ(good(MockApi::completions, R"({"model":"m","prompt":[1,2,3]})").prompt.tokens, 3U);
  EXPECT_EQ(good(MockApi::generate, R"({"text":"abc"})").text, "abc");
  EXPECT_EQ(good(MockApi::generate, R"({"text":"abc","input_ids":[[1,2,3,4,5]]})").prompt.tokens,
            5U);
  const auto messages = good(
      MockApi::messages,
      R"({"model":"m","max_tokens":1,"system":"S","messages":[{"role":"user","content":"U"}]})");
  EXPECT_EQ(messages.text, "<|system|>S\n<|user|>U\n<|assistant|>");
  EXPECT_EQ(good(MockApi::responses, R"({"model":"m","instructions":"S","input":"U"})").text,
            messages.text);
  EXPECT_EQ(good(MockApi::responses,
                 R"({"model":"m","instructions":"S","input":[{"role":"user","content":"U"}]})")
                .text,
            messages.text);
}

TEST(MockRequest, TheLengthIsTheSmallerOfTheEnginesAndTheRequests) {
  const std::string chat = R"({"model":"m","messages":[{"role":"user","content":"U"}])";
  auto request = good(MockApi::chat, chat + "}");
  EXPECT_EQ(request.output_tokens, 32U);
  EXPECT_FALSE(request.length_limited);
  request = good(MockApi::chat, chat + R"(,"max_tokens":5})");
  EXPECT_EQ(request.output_tokens, 5U);
  EXPECT_TRUE(request.length_limited);
  request = good(MockApi::chat, chat + R"(,"max_tokens":9,"max_completion_tokens":6})");
  EXPECT_EQ(request.output_tokens, 6U);
  request = good(MockApi::chat, chat + R"(,"max_tokens":99})");
  EXPECT_EQ(request.output_tokens, 32U);
  EXPECT_FALSE(request.length_limited);
  request = good(MockApi::chat, chat + R"(,"max_tokens":99,"ignore_eos":true})");
  EXPECT_EQ(request.output_tokens, 99U);
  request = good(MockApi::generate, R"({"text":"a","sampling_params":{"max_new_tokens":7}})");
  EXPECT_EQ(request.output_tokens, 7U);
  request = good(MockApi::responses, R"({"model":"m","input":"a","max_output_tokens":8})");
  EXPECT_EQ(request.output_tokens, 8U);
}

TEST(MockRequest, SaltsSeparateCaches) {
  const auto plain = good(MockApi::generate, R"({"text":"abcdefgh"})");
  const auto salted = good(MockApi::generate, R"({"text":"abcdefgh","extra_key":"x"})");
  const auto adapter = good(MockApi::generate, R"({"text":"abcdefgh","lora_path":"x"})");
  EXPECT_NE(plain.prompt.blocks, salted.prompt.blocks);
  EXPECT_NE(salted.prompt.blocks, adapter.prompt.blocks);
}

constexpr const char* kTool =
    R"("tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object",
       "properties":{"city":{"type":"string"},"unit":{"type":"string","enum":["c","f"]},
                     "days":{"type":"integer"}}}}}])";

std::string ask(const std::string& question, const std::string& more = "") {
  return R"({"model":"m","messages":[{"role":"user","content":")" + question + "\"}]," + kTool +
         more + "}";
}

TEST(MockRequest, CallsAToolThatTheUserAsksFor) {
  const auto request = good(MockApi::chat, ask("What is the weather in Paris?"));
  EXPECT_EQ(request.tool_name, "get_weather");
  EXPECT_EQ(request.tool_arguments, R"({"city":"Paris","days":1,"unit":"c"})");
  EXPECT_EQ(good(MockApi::chat, ask("Tell me a joke")).tool_name, "");
}

TEST(MockRequest, ToolChoiceDecides) {
  const auto name = [](const char* question, const char* choice) {
    return good(MockApi::chat, ask(question, std::string(R"(,"tool_choice":)") + choice)).tool_name;
  };
  EXPECT_EQ(name("Tell me a joke", R"("required")"), "get_weather");
  EXPECT_EQ(name("Tell me a joke", R"({"type":"function","function":{"name":"get_weather"}})"),
            "get_weather");
  EXPECT_EQ(name("weather?", R"("none")"), "");
  EXPECT_EQ(name("weather?", R"("auto")"), "get_weather");
}

TEST(MockRequest, AToolsResultIsAnsweredInText) {
  const std::string chat =
      R"({"model":"m","messages":[{"role":"user","content":"weather?"},
          {"role":"assistant","content":null,"tool_calls":[{"id":"1"}]},
          {"role":"tool","content":"sunny"}],)";
  EXPECT_EQ(good(MockApi::chat, chat + kTool + "}").tool_name, "");
  const std::string messages =
      R"({"model":"m","max_tokens":9,"tools":[{"name":"get_weather","input_schema":{}}],"messages":
          [{"role":"user","content":[{"type":"tool_result","content":"the weather is sunny"}]}]})";
  EXPECT_EQ(good(MockApi::messages, messages).tool_name, "");
}

TEST(MockRequest, ToolsHaveTheShapeOfTheirApi) {
  EXPECT_EQ(
      good(MockApi::messages,
           R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"weather in Rome"}],
                     "tools":[{"name":"get_weather","input_schema":{"properties":{"city":{}}}}]})")
          .tool_arguments,
      R"({"city":"Rome"})");
  EXPECT_EQ(good(MockApi::responses,
                 R"({"model":"m","input":"weather in Rome","tools":[{"type":"function",
                     "name":"get_weather","parameters":{"properties":{"city":{}}}}]})")
                .tool_arguments,
            R"({"city":"Rome"})");
}

TEST(MockRequest, RefusesWhatItCannotAnswer) {
  EXPECT_EQ(bad(MockApi::chat, "nonsense").code, ErrorCode::invalid_json);
  EXPECT_EQ(bad(MockApi::chat, "[]").code, ErrorCode::invalid_json);
  EXPECT_EQ(bad(MockApi::chat, R"({"model":7,"messages":[]})").code, ErrorCode::invalid_request);
  EXPECT_EQ(bad(MockApi::chat, R"({"messages":[]})").param, "model");
  EXPECT_EQ(bad(MockApi::chat, R"({"model":"other","messages":[]})").code,
            ErrorCode::model_not_found);
  for (const char* messages : {"[]", "{}", "\"x\"", "[7]", "[{}]", "null"}) {
    const std::string body = std::string(R"({"model":"m","messages":)") + messages + "}";
    EXPECT_EQ(bad(MockApi::chat, body).param, "messages") << messages;
  }
  for (const char* limit : {"0", "-1", "1.5", "\"9\"", "18446744073709551615"}) {
    const std::string body =
        std::string(R"({"model":"m","prompt":"a","max_tokens":)") + limit + "}";
    EXPECT_EQ(bad(MockApi::completions, body).param, "max_tokens") << limit;
  }
  EXPECT_EQ(
      bad(MockApi::messages, R"({"model":"m","messages":[{"role":"user","content":"U"}]})").param,
      "max_tokens");
  EXPECT_EQ(bad(MockApi::completions, R"({"model":"m"})").param, "prompt");
  EXPECT_EQ(bad(MockApi::generate, R"({"input_ids":["a"]})").param, "input_ids");
  EXPECT_EQ(bad(MockApi::responses, R"({"model":"m","input":7})").param, "input");
}

TEST(MockRequest, SurvivesDeepNesting) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_EQ(
      bad(MockApi::chat, R"({"model":"m","messages":[{"role":"user","content":)" + deep + "}]}")
          .code,
      ErrorCode::invalid_json);
}

}  // namespace
}  // namespace smg::app
