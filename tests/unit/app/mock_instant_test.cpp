#include "smg/app/mock_instant.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace smg::app {
namespace {

using nlohmann::json;

MockOptions options() {
  MockOptions out;
  out.model = "m";
  return out;
}

json good(MockInstant api, const std::string& body) {
  std::string out;
  const auto error = answer_instant(api, body, options(), out);
  EXPECT_FALSE(error) << error->message;
  return json::parse(out, nullptr, false);
}

std::string bad_param(MockInstant api, const std::string& body) {
  std::string out;
  const auto error = answer_instant(api, body, options(), out);
  return error ? std::string(error->param) : "no error";
}

TEST(MockInstant, EmbeddingsAreOneUnitVectorPerInput) {
  const auto body = good(MockInstant::embeddings, R"({"model":"m","input":["a","b","a"]})");
  ASSERT_EQ(body["data"].size(), 3U);
  EXPECT_EQ(body["data"][2]["index"], 2);
  EXPECT_EQ(body["data"][0]["embedding"], body["data"][2]["embedding"]);
  EXPECT_NE(body["data"][0]["embedding"], body["data"][1]["embedding"]);
  double length = 0;
  for (const double x : body["data"][0]["embedding"]) length += x * x;
  EXPECT_NEAR(length, 1, 1e-5);
  EXPECT_EQ(body["usage"]["prompt_tokens"], 3);
}

TEST(MockInstant, EmbeddingsComeInBase64ToThoseWhoWantIt) {
  const auto body =
      good(MockInstant::embeddings, R"({"input":"a","encoding_format":"base64","dimensions":2})");
  // 8 bytes: 11 digits and one sign of padding.
  const auto text = body["data"][0]["embedding"].get<std::string>();
  EXPECT_EQ(text.size(), 12U);
  EXPECT_EQ(text.back(), '=');
}

TEST(MockInstant, RerankOrdersByLikeness) {
  const auto body =
      good(MockInstant::rerank,
           R"({"query":"red fox","documents":["a sea","the red fox","a red sea"],"top_n":2})");
  ASSERT_EQ(body["results"].size(), 2U);
  EXPECT_EQ(body["results"][0]["index"], 1);
  EXPECT_EQ(body["results"][0]["relevance_score"], 1.0);
  EXPECT_EQ(body["results"][1]["index"], 2);
}

TEST(MockInstant, ScoreAndClassify) {
  EXPECT_EQ(
      good(MockInstant::score, R"({"text_1":"a b","text_2":["a b","c"]})")["data"][0]["score"],
      1.0);
  EXPECT_EQ(good(MockInstant::score, R"({"query":"a","items":["b","a"]})")["data"].size(), 2U);
  EXPECT_EQ(good(MockInstant::classify, R"({"input":"a"})")["data"][0]["num_classes"], 2);
}

TEST(MockInstant, DetokenizeGivesBackWhatTokenizeTookApart) {
  const auto tokens = good(MockInstant::tokenize, R"({"prompt":"h\u00e9llo w\u00f6rld"})");
  EXPECT_EQ(tokens["count"], 4);
  const json request = {{"tokens", tokens["tokens"]}};
  EXPECT_EQ(good(MockInstant::detokenize, request.dump())["prompt"], "h\u00e9llo w\u00f6rld");
}

TEST(MockInstant, CountTokensNeedsNoLength) {
  const auto body = good(MockInstant::count_tokens,
                         R"({"model":"m","messages":[{"role":"user","content":"twelve chars"}]})");
  EXPECT_GT(body["input_tokens"], 3);
}

TEST(MockInstant, NamesWhatIsWrong) {
  EXPECT_EQ(bad_param(MockInstant::embeddings, R"({"model":"m"})"), "input");
  EXPECT_EQ(bad_param(MockInstant::embeddings, R"({"input":[]})"), "input");
  EXPECT_EQ(bad_param(MockInstant::embeddings, R"({"input":"a","dimensions":0})"), "dimensions");
  EXPECT_EQ(bad_param(MockInstant::rerank, R"({"query":"a"})"), "documents");
  EXPECT_EQ(bad_param(MockInstant::score, R"({"text_1":"a"})"), "text_2");
  EXPECT_EQ(bad_param(MockInstant::classify, R"({"model":"x","input":"a"})"), "model");
  EXPECT_EQ(bad_param(MockInstant::detokenize, R"({"tokens":["a"]})"), "tokens");
  EXPECT_EQ(bad_param(MockInstant::count_tokens, R"({"model":"m","messages":[]})"), "messages");
}

}  // namespace
}  // namespace smg::app
