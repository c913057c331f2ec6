#include "smg/control/engine_info.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smg::control {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

EngineAnswer ok(std::string body) { return {200, std::move(body)}; }
EngineAnswer absent() { return {404, R"({"detail":"Not Found"})"}; }

std::vector<std::string> ids(const worker::Discovered& found) {
  std::vector<std::string> out;
  for (const auto& card : found.models) out.push_back(card.id);
  return out;
}

EngineAnswers vllm() {
  EngineAnswers answers;
  answers.models = ok(R"({"object":"list","data":[
    {"id":"llama","object":"model","created":1,"owned_by":"vllm","root":"meta/Llama-3","parent":null,
     "max_model_len":8192,"permission":[{"id":"p"}]},
    {"id":"my-lora","object":"model","owned_by":"vllm","root":"/adapters/x","parent":"llama"}]})");
  answers.version = ok(R"({"version":"0.9.1"})");
  answers.server_info = absent();
  answers.model_info = absent();
  return answers;
}

EngineAnswers sglang() {
  EngineAnswers answers;
  answers.models = ok(R"({"object":"list","data":[
    {"id":"qwen","object":"model","owned_by":"sglang","root":"qwen","max_model_len":32768}]})");
  answers.version = absent();
  answers.server_info = ok(R"({"model_path":"/models/qwen","served_model_name":"qwen","tp_size":2,
    "dp_size":1,"is_embedding":false,"load_balance_method":"round_robin","context_length":null,
    "disaggregation_mode":"null","max_running_requests":0,"version":"0.5.3",
    "internal_states":[{"a":{"b":1}}]})");
  answers.model_info = ok(R"({"model_path":"/models/qwen","is_generation":true,
    "architectures":["Qwen3ForCausalLM"],"tokenizer_path":""})");
  return answers;
}

EngineAnswers llamacpp() {
  EngineAnswers answers;
  answers.models =
      ok(R"({"models":[{"name":"tiny.gguf","model":"tiny.gguf"}],"object":"list","data":[
    {"id":"tiny.gguf","aliases":["tiny","small"],"object":"model","created":1,"owned_by":"llamacpp",
     "meta":{"vocab_type":1,"n_ctx_train":4096,"n_ctx":2048,"n_params":42}}]})");
  answers.version = absent();
  answers.server_info = absent();
  answers.model_info = absent();
  return answers;
}

TEST(EngineInfo, VllmIsKnownByItsOwnerAndGivesAllItsModels) {
  const auto found = describe_engine(vllm(), {}, {});
  EXPECT_EQ(found.runtime, "vllm");
  EXPECT_THAT(ids(found), ElementsAre("llama", "my-lora"));
  EXPECT_EQ(found.models[0].context_length, 8192U);
  EXPECT_EQ(found.labels.at("version"), "0.9.1");
  EXPECT_EQ(found.labels.at("model_path"), "meta/Llama-3");
  EXPECT_FALSE(questions_open(vllm(), {}));
}

TEST(EngineInfo, SglangGivesLabelsAndLeavesOutWhatSaysNothing) {
  const auto found = describe_engine(sglang(), {}, {});
  EXPECT_EQ(found.runtime, "sglang");
  EXPECT_THAT(ids(found), ElementsAre("qwen"));
  EXPECT_EQ(found.models[0].context_length, 32768U);
  EXPECT_EQ(found.labels.at("tp_size"), "2");
  EXPECT_EQ(found.labels.at("is_embedding"), "false");
  EXPECT_EQ(found.labels.at("is_generation"), "true");
  EXPECT_EQ(found.labels.at("architectures"), R"(["Qwen3ForCausalLM"])");
  for (const char* name : {"disaggregation_mode", "max_running_requests", "tokenizer_path",
                           "internal_states", "context_length"}) {
    EXPECT_FALSE(found.labels.contains(name)) << name;
  }
}

TEST(EngineInfo, LlamaCppIsKnownByItsOwnerWithAliasesAndContext) {
  const auto found = describe_engine(llamacpp(), {}, {});
  EXPECT_EQ(found.runtime, "llamacpp");
  EXPECT_THAT(ids(found), ElementsAre("tiny.gguf"));
  EXPECT_THAT(found.models[0].aliases, ElementsAre("tiny", "small"));
  EXPECT_EQ(found.models[0].context_length, 2048U);
}

TEST(EngineInfo, AnUnknownOwnerIsToldByTheEndpointsThatAnswer) {
  EngineAnswers answers;
  answers.models = ok(R"({"data":[{"id":"m","owned_by":"acme"}]})");
  EXPECT_EQ(describe_engine(answers, {}, {}).runtime, "generic");
  answers.server_info = ok("{}");
  EXPECT_EQ(describe_engine(answers, {}, {}).runtime, "sglang");
  answers.version = ok(R"({"version":"1"})");
  EXPECT_EQ(describe_engine(answers, {}, {}).runtime, "vllm");
}

TEST(EngineInfo, AnNvidiaOwnerIsSglang) {
  EngineAnswers answers;
  answers.models = ok(R"({"data":[{"id":"m","owned_by":"nvidia"}]})");
  EXPECT_EQ(describe_engine(answers, {}, {}).runtime, "sglang");
}

TEST(EngineInfo, TheSpecsRuntimeAndLabelsWin) {
  worker::WorkerSpec spec;
  spec.runtime = "trtllm";
  spec.labels = {{"served_model_name", "alias-of-qwen"}};
  const auto found = describe_engine(sglang(), spec, {});
  EXPECT_EQ(found.runtime, "trtllm");
  EXPECT_THAT(ids(found), ElementsAre("alias-of-qwen", "qwen"));
}

TEST(EngineInfo, WithoutModelsTheModelIdComesFromLabelsInOrder) {
  EngineAnswers answers;
  answers.models = absent();
  answers.server_info = ok(R"({"model_path":"/models/m","model_id":"m-id"})");
  EXPECT_THAT(ids(describe_engine(answers, {}, {})), ElementsAre("m-id"));
  answers.server_info = ok(R"({"model_path":"/models/m"})");
  EXPECT_THAT(ids(describe_engine(answers, {}, {})), ElementsAre("/models/m"));
  answers.server_info = absent();
  EXPECT_THAT(ids(describe_engine(answers, {}, {})), IsEmpty());
  EXPECT_TRUE(questions_open(answers, {}));
}

TEST(EngineInfo, GarbageIsNoFactAndNoFault) {
  for (const char* body :
       {"", "{", "[]", "null", "42", "\"x\"", R"({"data":{}})", R"({"data":[null,1,"x",[],{}]})",
        R"({"data":[{"id":7}]})", R"({"data":[{"id":""}]})", R"({"data":[{"id":"a\u0000b"}]})",
        "{\"data\":[{\"id\":\"\xff\xfe\"}]}", R"({"data":[{"id":"x\n"}]})"}) {
    EngineAnswers answers;
    answers.models = ok(body);
    answers.version = ok(body);
    answers.server_info = ok(body);
    answers.model_info = ok(body);
    EXPECT_THAT(ids(describe_engine(answers, {}, {})), IsEmpty()) << body;
    EXPECT_TRUE(questions_open(answers, {})) << body;
  }
}

TEST(EngineInfo, LongListsAndNamesAreBounded) {
  std::string data = R"({"data":[{"id":")" + std::string(kMaxNameLength + 1, 'x') + R"("})";
  for (std::size_t i = 0; i < kMaxModels + 50; ++i) {
    data += R"(,{"id":"m)" + std::to_string(i) + R"("},{"id":"m0"})";
  }
  EngineAnswers answers;
  answers.models = ok(data + "]}");
  const auto found = describe_engine(answers, {}, {});
  EXPECT_EQ(found.models.size(), kMaxModels);
  EXPECT_EQ(found.models[0].id, "m0");
  EXPECT_EQ(found.models[1].id, "m1");
}

TEST(EngineInfo, AnEndpointWithoutAnAnswerTakesNothingAway) {
  const auto before = describe_engine(sglang(), {}, {});
  const auto after = describe_engine({}, {}, before);
  EXPECT_EQ(after.runtime, "sglang");
  EXPECT_EQ(ids(after), ids(before));
  EXPECT_EQ(after.labels, before.labels);
}

TEST(EngineInfo, AnotherEngineReplacesTheFacts) {
  const auto before = describe_engine(sglang(), {}, {});
  const auto after = describe_engine(vllm(), {}, before);
  EXPECT_EQ(after.runtime, "vllm");
  EXPECT_THAT(ids(after), ElementsAre("llama", "my-lora"));
  EXPECT_FALSE(after.labels.contains("tp_size"));
}

TEST(EngineInfo, QuestionsAreOpenWhileAnEndpointFails) {
  EngineAnswers answers = vllm();
  answers.version.status = 503;
  EXPECT_TRUE(questions_open(answers, {}));
  answers.version.status = 0;
  EXPECT_TRUE(questions_open(answers, {}));
  answers.version.status = 501;
  EXPECT_FALSE(questions_open(answers, {}));
}

}  // namespace
}  // namespace smg::control
