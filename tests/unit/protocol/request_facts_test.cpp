#include "smg/protocol/request_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace smg::protocol {
namespace {

using nlohmann::json;
using testing::ElementsAre;

// Facts by value, so that tests may keep them.
struct Facts {
  std::string error;
  bool json_error = false;
  std::string model;
  bool stream = false;
  std::string text;
  std::vector<std::uint32_t> tokens;
};

Facts facts_of(std::string_view body, BodyKind kind, bool want_key = true) {
  static FactsScratch scratch;  // reused with whatever earlier bodies left in it
  RequestFacts facts;
  facts.model = "left over";
  Facts out;
  if (const auto error = read_facts(body, {.kind = kind, .want_key = want_key}, scratch, facts)) {
    out.error = error->message;
    out.json_error = error->json;
    EXPECT_EQ(error->field, error->json ? "" : "model");
    return out;
  }
  out.model = facts.model;
  out.stream = facts.stream;
  out.text = facts.text;
  if (facts.tokens != nullptr) {
    EXPECT_FALSE(facts.tokens->empty());
    EXPECT_TRUE(facts.text.empty());
    out.tokens = *facts.tokens;
  }
  return out;
}

std::string text_of(std::string_view body, BodyKind kind) {
  const Facts facts = facts_of(body, kind);
  EXPECT_EQ(facts.error, "") << body;
  return facts.text;
}

struct TextCase {
  BodyKind kind;
  const char* body;
  const char* text;
};

void expect_texts(std::initializer_list<TextCase> cases) {
  for (const auto& [kind, body, text] : cases) EXPECT_EQ(text_of(body, kind), text) << body;
}

TEST(RequestFacts, JoinsChatMessagesInOrder) {
  constexpr auto chat = BodyKind::chat;
  expect_texts({
      {chat, R"({"messages":[{"role":"system","content":"A"},{"role":"user","content":"B"}]})",
       "A B"},
      {chat, R"({"messages":[{"role":"developer","content":"d"},{"role":"tool","content":"t",
                 "tool_call_id":"call_1"},{"role":"user","name":"bob","content":"u"}]})",
       "d t u"},
      {chat, R"({"messages":[{"role":"user","content":""},{"role":"user","content":"x"},
                 {"role":"user","content":""},{"role":"user","content":"y"}]})",
       "x y"},
      {chat, R"({"messages":[{"content":"no role"},{"role":"root","content":"other role"}]})",
       "no role other role"},
      {chat, R"({"messages":[]})", ""},
      {chat, R"({})", ""},
      {chat, R"({"prompt":"p","input":"i","system":"s","text":"t"})", ""},
  });
}

TEST(RequestFacts, TakesOnlyTextPartsOfChatContent) {
  constexpr auto chat = BodyKind::chat;
  expect_texts({
      {chat, R"({"messages":[{"role":"user","content":[{"type":"text","text":"x"},
                 {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},
                 {"type":"text","text":""},{"type":"text","text":"y"},
                 {"type":"input_audio","text":"audio"},{"type":"unknown","text":"z"},
                 {"text":"untyped"},"bare",7,null,["n"]]}]})",
       "x y"},
      {chat, R"({"messages":[{"role":"system","content":[{"type":"text","text":"s"}]},
                 {"role":"assistant","content":[{"type":"text","text":"a"}]},
                 {"role":"tool","content":[{"type":"text","text":"t"}]}]})",
       "s a t"},
      {chat, R"({"messages":[{"role":"user","content":[{"text":"before","type":"text"}]}]})",
       "before"},
      {chat, R"({"messages":[{"role":"user","content":[{"type":"text","text":5},
                 {"type":5,"text":"five"},{"type":"text"},{"type":null,"text":"null"}]}]})",
       ""},
  });
}

TEST(RequestFacts, TakesReasoningOfAssistantsOnly) {
  constexpr auto chat = BodyKind::chat;
  expect_texts({
      {chat, R"({"messages":[{"role":"assistant","content":"c","reasoning_content":"r"}]})", "c r"},
      {chat, R"({"messages":[{"reasoning_content":"r","content":"c","role":"assistant"}]})", "c r"},
      {chat, R"({"messages":[{"reasoning_content":"r","content":[{"type":"text","text":"c"}],
                 "role":"assistant"}]})",
       "c r"},
      {chat, R"({"messages":[{"role":"assistant","content":null,"reasoning_content":"r"}]})", "r"},
      {chat, R"({"messages":[{"role":"user","content":"c","reasoning_content":"r"}]})", "c"},
      {chat, R"({"messages":[{"reasoning_content":"r","content":"c","role":"tool"}]})", "c"},
      {chat, R"({"messages":[{"role":"assistant","reasoning_content":["r"],"content":"c"}]})", "c"},
  });
}

TEST(RequestFacts, LeavesOutToolCallsAndFunctionParts) {
  constexpr auto chat = BodyKind::chat;
  expect_texts({
      {chat, R"({"tools":[{"type":"function","function":{"name":"f","description":"d"}}],
                 "response_format":{"type":"text","text":"rf"},
                 "messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,
                 "tool_calls":[{"id":"1","type":"function",
                 "function":{"name":"f","arguments":"{\"content\":\"no\"}"}}]},
                 {"role":"tool","tool_call_id":"1","content":"42"}]})",
       "q 42"},
      {chat, R"({"messages":[{"role":"function","name":"f","content":"result"}]})", "result"},
      {chat, R"({"messages":[{"role":"user","content":"u"},
                 {"content":[{"type":"text","text":"p"}],"role":"function"}]})",
       "u"},
  });
}

TEST(RequestFacts, CountsTheLastOfEqualKeys) {
  constexpr auto chat = BodyKind::chat;
  expect_texts({
      {chat, R"({"messages":[{"content":"old"},{"content":"er"}],"messages":[{"content":"new"}]})",
       "new"},
      {chat, R"({"messages":[{"content":"old"}],"messages":null})", ""},
      {chat, R"({"messages":[{"content":"keep"},{"content":[{"type":"text","text":"a"},
                 {"type":"text","text":"b"}],"content":"c"}]})",
       "keep c"},
      {chat, R"({"messages":[{"content":"keep"},{"content":"c",
                 "content":[{"type":"text","text":"a"}]}]})",
       "keep a"},
      {chat, R"({"messages":[{"content":"c","content":null},{"content":"d"}]})", "d"},
      {chat, R"({"messages":[{"content":[{"type":"text","text":"a\n"}],"content":7},
                 {"content":"d"}]})",
       "d"},
      {chat, R"({"messages":[{"role":"user","content":"c","reasoning_content":"1",
                 "role":"assistant","reasoning_content":"2"}]})",
       "c 2"},
      {chat, R"({"messages":[{"content":[{"type":"image","text":"1","type":"text","text":"2"},
                 {"type":"text","text":"3","type":"image"},
                 {"type":"text","text":"4","text":null}]}]})",
       "2"},
      {BodyKind::messages, R"({"system":"s1","messages":[{"content":"m"}],"system":"s2"})", "s2 m"},
      {BodyKind::messages, R"({"messages":[{"content":"m1"}],"system":"s",
                               "messages":[{"content":"m"},{"content":"2"}]})",
       "s m 2"},
      {BodyKind::generate, R"({"text":"a","text":"b"})", "b"},
  });
  const Facts facts = facts_of(
      R"({"model":1,"model":"a","stream":true,"model":"b","stream":false})", BodyKind::chat);
  EXPECT_EQ(facts.error, "");
  EXPECT_EQ(facts.model, "b");
  EXPECT_FALSE(facts.stream);
}

TEST(RequestFacts, ComparesKeysAndNamesUnescaped) {
  const Facts facts = facts_of(
      R"({"mo\u0064el":"l\u006cama","messa\u0067es":[{"ro\u006ce":"\u0061ssistant",
          "cont\u0065nt":[{"typ\u0065":"te\u0078t","t\u0065xt":"x"}],
          "reasoning\u005fcontent":"r"}],"str\u0065am":true})",
      BodyKind::chat);
  EXPECT_EQ(facts.error, "");
  EXPECT_EQ(facts.model, "llama");
  EXPECT_EQ(facts.text, "x r");
  EXPECT_TRUE(facts.stream);
  EXPECT_EQ(facts_of(R"({"mode\\l":"x","model\u0000":"y"})", BodyKind::chat).model, "");
}

TEST(RequestFacts, UnescapesText) {
  constexpr auto chat = BodyKind::chat;
  expect_texts({
      {chat, R"({"messages":[{"content":"a\n\"b\"\t\u00e9 \ud83d\ude00"},{"content":"plain"}]})",
       "a\n\"b\"\t\u00e9 \U0001F600 plain"},
      {chat, R"({"messages":[{"content":"\ud800"}]})", "\uFFFD"},
      {chat, R"({"messages":[{"content":"plain"},{"content":"\\"}]})", "plain \\"},
  });
}

TEST(RequestFacts, ViewsASinglePlainPieceInTheBody) {
  const std::string body = R"({"model":"m","messages":[{"role":"user","content":"hello there"}]})";
  FactsScratch scratch;
  RequestFacts facts;
  ASSERT_FALSE(read_facts(body, {.kind = BodyKind::chat, .want_key = true}, scratch, facts));
  EXPECT_EQ(facts.text.data(), body.data() + body.find("hello"));
  EXPECT_EQ(facts.model.data(), body.data() + body.find("m\""));
  EXPECT_TRUE(scratch.text.empty());
}

TEST(RequestFacts, ReadsPromptsOfCompletions) {
  constexpr auto completions = BodyKind::completions;
  expect_texts({
      {completions, R"({"prompt":"say hi"})", "say hi"},
      {completions, R"({"prompt":["a","b c"]})", "a b c"},
      {completions, R"({"prompt":["a","","b"]})", "a  b"},
      {completions, R"({"prompt":["","a\n"]})", " a\n"},
      {completions, R"({"prompt":["a",1,null,"b",["c"]]})", "a b"},
      {completions, R"({"prompt":[1,2,3]})", ""},
      {completions, R"({"prompt":[[1,2],[3]]})", ""},
      {completions, R"({"prompt":{"a":"b"}})", ""},
      {completions, R"({"prompt":null})", ""},
      {completions, R"({"prompt":""})", ""},
  });
}

TEST(RequestFacts, ReadsAnthropicMessages) {
  constexpr auto messages = BodyKind::messages;
  expect_texts({
      {messages, R"({"system":"S","messages":[{"role":"user","content":"u"},
                     {"role":"assistant","content":"a"}]})",
       "S u a"},
      {messages, R"({"messages":[{"role":"user","content":"u"},{"role":"user","content":"v"}],
                     "max_tokens":5,"system":"S"})",
       "S u v"},
      {messages, R"({"messages":[{"role":"user","content":"u"}],"system":[
                     {"type":"text","text":"one","cache_control":{"type":"ephemeral"}},
                     {"type":"text","text":"two"},{"type":"image","text":"no"}]})",
       "one two u"},
      {messages, R"({"system":"esc\naped","messages":[{"role":"user","content":[
                     {"type":"text","text":"t"},{"type":"image","source":{"data":"AA"}},
                     {"type":"document","text":"doc"},
                     {"type":"tool_result","tool_use_id":"1","content":[
                     {"type":"text","text":"result"}]},{"type":"text","text":"w"}]},
                     {"role":"assistant","reasoning_content":"r","content":[
                     {"type":"thinking","thinking":"hm"},{"type":"text","text":"done"},
                     {"type":"tool_use","id":"1","name":"f","input":{"text":"no"}}]}]})",
       "esc\naped t w done"},
      {messages, R"({"system":"only"})", "only"},
      {messages, R"({"system":"","messages":[{"content":"u"}]})", "u"},
      {messages, R"({"system":7,"messages":"u"})", ""},
  });
}

TEST(RequestFacts, ReadsResponsesInput) {
  constexpr auto responses = BodyKind::responses;
  expect_texts({
      {responses, R"({"instructions":"no","input":"hello"})", "hello"},
      {responses, R"({"input":[{"type":"message","role":"user","content":[
                      {"type":"input_text","text":"a"},{"type":"input_image","image_url":"x"},
                      {"type":"input_text","text":"b"}]},
                      {"type":"message","role":"assistant","content":[
                      {"type":"output_text","text":"c","annotations":[]},
                      {"type":"refusal","refusal":"no"}]}]})",
       "a b c"},
      {responses, R"({"input":[{"role":"user","content":"simple"},
                      {"role":"user","content":[{"type":"input_text","text":"parts"}]},
                      {"content":"no type","role":"assistant","reasoning_content":"no"}]})",
       "simple parts no type"},
      {responses, R"({"input":[{"role":"user","content":"q"},{"type":"reasoning","id":"1",
                      "summary":[{"type":"summary_text","text":"no"}],
                      "content":[{"type":"reasoning_text","text":"think"}]},
                      {"type":"function_call","name":"f","arguments":"{}"},
                      {"type":"function_call_output","call_id":"1","output":"no"},
                      {"content":[{"type":"input_text","text":"no"}],"type":"mcp_call"},
                      {"content":"no","type":"computer_call_output"},
                      {"type":"web_search_call"},"bare",{"role":"user","content":"r"}]})",
       "q think r"},
      {responses, R"({"input":[]})", ""},
      {responses, R"({"input":5})", ""},
  });
}

TEST(RequestFacts, ReadsTheOtherEndpoints) {
  expect_texts({
      {BodyKind::input, R"({"input":"embed me"})", "embed me"},
      {BodyKind::input, R"({"input":["a","b"]})", "a b"},
      {BodyKind::input, R"({"input":[1,2]})", ""},
      {BodyKind::rerank, R"({"query":"q","documents":["d1","d2"]})", "q"},
      {BodyKind::rerank, R"({"query":["q"],"documents":["d1"]})", ""},
      {BodyKind::score, R"({"text":"t","query":"q","text_1":"one","text_2":"two"})", "one"},
      {BodyKind::score, R"({"text":"t","query":"q","items":["i"]})", "q"},
      {BodyKind::score, R"({"text":"t"})", "t"},
      {BodyKind::score, R"({"text_1":null,"query":"","text":"t"})", "t"},
      {BodyKind::tokenize, R"({"text":"t","prompt":"p"})", "p"},
      {BodyKind::tokenize, R"({"text":"t"})", "t"},
      {BodyKind::tokenize, R"({"prompt":"p","messages":[{"role":"user","content":"m"}]})", "m"},
      {BodyKind::tokenize, R"({"tokens":[1,2,3]})", ""},
      {BodyKind::opaque, R"({"prompt":"p","messages":[{"content":"m"}],"input":"i"})", ""},
      {BodyKind::generate, R"({"text":"g"})", "g"},
  });
}

std::vector<std::uint32_t> tokens_of(std::string_view body, BodyKind kind = BodyKind::generate) {
  const Facts facts = facts_of(body, kind);
  EXPECT_EQ(facts.error, "") << body;
  return facts.tokens;
}

TEST(RequestFacts, ReadsInputIds) {
  EXPECT_THAT(tokens_of(R"({"input_ids":[1,22,333,4444,55555,666666,7777777,88888888]})"),
              ElementsAre(1, 22, 333, 4444, 55555, 666666, 7777777, 88888888));
  EXPECT_THAT(tokens_of(R"({"input_ids":[-1,-2147483648,4294967295,0,-0]})"),
              ElementsAre(0xFFFFFFFFU, 0x80000000U, 0xFFFFFFFFU, 0U, 0U));
  EXPECT_THAT(tokens_of(R"({"input_ids":[[1,2],[3]]})"), ElementsAre(1, 2));
  EXPECT_THAT(tokens_of(R"({"input_ids":[[7]]})"), ElementsAre(7));
  EXPECT_THAT(tokens_of(R"({"input_ids":[1,2],"input_ids":[3]})"), ElementsAre(3));
}

TEST(RequestFacts, TreatsBadInputIdsAsAbsent) {
  for (const char* ids : {"[]", "[[],[1]]", "null", "5", "\"1\"", "[1,2.0]", "[1,\"2\"]",
                          "[1,null]", "[1,[2]]", "[1e2]", "[4294967296]", "[-2147483649]",
                          "[1,99999999999999999999999]", "[[1,true]]", "{\"0\":1}", "[{}]"}) {
    EXPECT_THAT(tokens_of("{\"input_ids\":" + std::string(ids) + "}"), ElementsAre()) << ids;
    EXPECT_EQ(
        text_of("{\"text\":\"t\",\"input_ids\":" + std::string(ids) + "}", BodyKind::generate), "t")
        << ids;
  }
  EXPECT_THAT(tokens_of(R"({"input_ids":[1],"input_ids":null})"), ElementsAre());
}

TEST(RequestFacts, PrefersTokensToText) {
  const Facts facts = facts_of(R"({"text":"t","input_ids":[5]})", BodyKind::generate);
  EXPECT_THAT(facts.tokens, ElementsAre(5));
  EXPECT_EQ(facts.text, "");
  EXPECT_THAT(tokens_of(R"({"input_ids":[5]})", BodyKind::chat), ElementsAre());
}

TEST(RequestFacts, SkipsTheKeyWhenItIsNotWanted) {
  const Facts facts =
      facts_of(R"({"model":"m","text":"t","input_ids":[5],"stream":true})", BodyKind::generate,
               /*want_key=*/false);
  EXPECT_EQ(facts.text, "");
  EXPECT_THAT(facts.tokens, ElementsAre());
  EXPECT_EQ(facts.model, "m");
  EXPECT_TRUE(facts.stream);
  EXPECT_NE(facts_of(R"({"messages":[}]})", BodyKind::chat, false).error, "");
}

TEST(RequestFacts, StreamsOnlyOnTheLiteralTrue) {
  EXPECT_TRUE(facts_of(R"({"stream":true})", BodyKind::opaque).stream);
  for (const char* value : {"false", "null", "1", "\"true\"", "[true]", "{}"}) {
    EXPECT_FALSE(facts_of("{\"stream\":" + std::string(value) + "}", BodyKind::opaque).stream);
  }
  EXPECT_FALSE(facts_of(R"({"options":{"stream":true,"model":"inner"}})", BodyKind::opaque).stream);
}

TEST(RequestFacts, TakesANullModelAsUnset) {
  EXPECT_EQ(facts_of(R"({"model":null})", BodyKind::chat).error, "");
  EXPECT_EQ(facts_of(R"({"model":null})", BodyKind::chat).model, "");
  EXPECT_EQ(facts_of(R"({"model":"x","model":null})", BodyKind::chat).model, "");
  EXPECT_EQ(facts_of(R"({"options":{"model":"inner"}})", BodyKind::chat).model, "");
}

TEST(RequestFacts, RefusesAModelThatIsNoString) {
  for (const char* model : {"1", "true", "[]", "{}", "[\"m\"]"}) {
    const Facts facts = facts_of("{\"model\":" + std::string(model) + "}", BodyKind::chat);
    EXPECT_EQ(facts.error, "'model' must be a string") << model;
    EXPECT_FALSE(facts.json_error);
  }
}

TEST(RequestFacts, RefusesWhatIsNoJsonObject) {
  const struct {
    std::string body;
    std::string error;
  } cases[] = {
      {"", "body is not valid JSON: unexpected end at byte 0"},
      {"hello", "body is not valid JSON: unexpected character at byte 0"},
      {R"({"model":"m",})", "body is not valid JSON: unexpected character at byte 13"},
      {R"({"model":1} x)", "body is not valid JSON: unexpected character at byte 12"},
      {R"({"messages":[{"content":"a)", "body is not valid JSON: unterminated string at byte 26"},
      {"\xEF\xBB\xBF{}", "body is not valid JSON: unexpected character at byte 0"},
      {"[]", "body must be a JSON object"},
      {"\"model\"", "body must be a JSON object"},
      {"17", "body must be a JSON object"},
      {"null", "body must be a JSON object"},
  };
  for (const auto& [body, error] : cases) {
    const Facts facts = facts_of(body, BodyKind::chat);
    EXPECT_EQ(facts.error, error) << body;
    EXPECT_TRUE(facts.json_error);
  }
}

TEST(RequestFacts, LimitsNestingEverywhere) {
  const auto nested = [](const std::string& before, std::size_t depth, const std::string& behind) {
    return before + std::string(depth, '[') + std::string(depth, ']') + behind;
  };
  for (const char* key : {"messages", "other", "model_extra"}) {
    const std::string before = "{\"" + std::string(key) + "\":";
    EXPECT_EQ(facts_of(nested(before, 511, "}"), BodyKind::chat).error, "") << key;
    EXPECT_NE(facts_of(nested(before, 512, "}"), BodyKind::chat).error, "") << key;
  }
  const std::string inner = R"({"messages":[{"content":[{"text":)";
  EXPECT_EQ(facts_of(nested(inner, 507, "}]}]}"), BodyKind::chat).error, "");
  EXPECT_NE(facts_of(nested(inner, 508, "}]}]}"), BodyKind::chat).error, "");
  EXPECT_NE(facts_of(std::string(1 << 20, '['), BodyKind::chat).error, "");
}

TEST(RequestFacts, ContributesNothingForWrongTypes) {
  constexpr auto chat = BodyKind::chat;
  expect_texts({
      {chat, R"({"messages":"text"})", ""},
      {chat, R"({"messages":{"role":"user","content":"x"}})", ""},
      {chat, R"({"messages":["x",5,null,[{"content":"y"}],{"content":"z"}]})", "z"},
      {chat, R"({"messages":[{"content":5},{"content":{"type":"text","text":"x"}}]})", ""},
      {chat, R"({"messages":[{"role":7,"content":"x","reasoning_content":"r"}]})", "x"},
  });
}

TEST(RoutingTokens, AreDecimalsSeparatedByCommas) {
  std::vector<std::uint32_t> tokens{9};
  EXPECT_TRUE(parse_routing_tokens("1,22,4294967295,007", tokens));
  EXPECT_THAT(tokens, ElementsAre(1, 22, 4294967295U, 7));
  EXPECT_TRUE(parse_routing_tokens("0", tokens));
  EXPECT_THAT(tokens, ElementsAre(0));
}

TEST(RoutingTokens, AreIgnoredOnAnyViolation) {
  for (const char* value : {"", ",", "1,", ",1", "1,,2", "1 ,2", " 1", "1, 2", "+1", "-1", "0x1",
                            "4294967296", "99999999999999999999", "1.0", "a", "1;2", "1,2\n"}) {
    std::vector<std::uint32_t> tokens{9};
    EXPECT_FALSE(parse_routing_tokens(value, tokens)) << value;
    EXPECT_TRUE(tokens.empty()) << value;
  }
}

TEST(RoutingTokens, AreLimitedInNumberAndBytes) {
  const auto list = [](std::size_t count, const std::string& piece) {
    std::string out = piece;
    for (std::size_t i = 1; i < count; ++i) out += ',' + piece;
    return out;
  };
  std::vector<std::uint32_t> tokens;
  EXPECT_TRUE(parse_routing_tokens(list(512, "1"), tokens));
  EXPECT_EQ(tokens.size(), 512U);
  EXPECT_FALSE(parse_routing_tokens(list(513, "1"), tokens));
  EXPECT_TRUE(parse_routing_tokens(std::string(4095, '0') + '1', tokens));
  EXPECT_FALSE(parse_routing_tokens(std::string(4096, '0') + '1', tokens));
}

// --- against a slow and obvious extractor -------------------------------------------------------

std::string string_at(const json& object, const char* key) {
  return object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

std::string obvious_chat_text(const json& body) {
  std::vector<std::string> pieces;
  if (!body.contains("messages") || !body["messages"].is_array()) return "";
  for (const json& message : body["messages"]) {
    if (!message.is_object()) continue;
    const std::string role = string_at(message, "role");
    pieces.push_back(string_at(message, "content"));
    if (message.contains("content") && message["content"].is_array() && role != "function") {
      for (const json& part : message["content"]) {
        if (part.is_object() && string_at(part, "type") == "text") {
          pieces.push_back(string_at(part, "text"));
        }
      }
    }
    if (role == "assistant") pieces.push_back(string_at(message, "reasoning_content"));
  }
  std::string text;
  for (const std::string& piece : pieces) {
    if (piece.empty()) continue;
    text += (text.empty() ? "" : " ") + piece;
  }
  return text;
}

// Writes random chat bodies as text, so that keys repeat, come in any order and have escapes.
class ChatGenerator {
 public:
  explicit ChatGenerator(std::uint32_t seed) : random_(seed) {}

  std::string body() {
    std::string out = "{";
    for (std::size_t i = 0, n = 1 + below(4); i < n; ++i) {
      out += i == 0 ? "" : ",";
      out += below(4) == 0 ? R"("temperature":0.5)" : quoted("messages") + ":" + messages();
    }
    return out + "}";
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  std::string pick(std::initializer_list<const char*> choices) {
    return *(choices.begin() + below(choices.size()));
  }

  std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
      const auto code = static_cast<unsigned char>(c);
      if (code < 0x80 && below(12) == 0) {
        static constexpr char hex[] = "0123456789abcdef";
        out += std::string("\\u00") + hex[code / 16] + hex[code % 16];
      } else if (c == '"' || c == '\\') {
        out += std::string("\\") + c;
      } else if (c == '\n') {
        out += "\\n";
      } else {
        out += c;
      }
    }
    return out + "\"";
  }

  std::string text() {
    std::string out;
    for (std::size_t i = 0, n = below(5); i < n; ++i) {
      out += pick({"word", "a longer run of plain text that fills some blocks of the scan", "\n",
                   "\"", "\\", "\u00e9", "\U0001F600", " "});
    }
    return quoted(out);
  }

  std::string messages() {
    if (below(10) == 0) return pick({"null", "5", "\"x\"", "{}"});
    return array([this] { return below(10) == 0 ? "null" : message(); });
  }
  std::string message() {
    return object([this] {
      switch (below(4)) {
        case 0:
          return quoted("role") + ":" +
                 quoted(pick({"user", "assistant", "assistant", "system", "function", "tool"}));
        case 1:
          return quoted("reasoning_content") + ":" + (below(4) == 0 ? "null" : text());
        default:
          return quoted("content") + ":" + content();
      }
    });
  }
  std::string content() {
    switch (below(6)) {
      case 0:
        return pick({"null", "1.5", "{}", "true"});
      case 1:
      case 2:
        return array([this] { return part(); });
      default:
        return text();
    }
  }
  std::string part() {
    if (below(8) == 0) return pick({"null", "[]", "\"x\"", "7"});
    return object([this] {
      if (below(2) == 0) return quoted("text") + ":" + (below(6) == 0 ? "[]" : text());
      return quoted("type") + ":" + quoted(pick({"text", "text", "text", "image_url"}));
    });
  }

  template <class Make>
  std::string array(Make make) {
    std::string out = "[";
    for (std::size_t i = 0, n = below(5); i < n; ++i) out += (i == 0 ? "" : ", ") + make();
    return out + "]";
  }
  template <class Make>
  std::string object(Make make) {
    std::string out = "{";
    for (std::size_t i = 0, n = below(5); i < n; ++i) out += (i == 0 ? "" : ",") + make();
    return out + "}";
  }

  std::mt19937 random_;
};

TEST(RequestFacts, AgreesWithAnObviousExtractorOnRandomChats) {
  ChatGenerator generator(7);
  int with_text = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string body = generator.body();
    const json document = json::parse(body, nullptr, false);
    ASSERT_TRUE(document.is_object()) << body;
    const std::string expected = obvious_chat_text(document);
    ASSERT_EQ(text_of(body, BodyKind::chat), expected) << body;
    with_text += expected.empty() ? 0 : 1;
  }
  EXPECT_GT(with_text, 6'000);
}

}  // namespace
}  // namespace smg::protocol
