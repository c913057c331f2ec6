// Cost of reading a body for routing: bytes per second of the scan, time per body.
#include <benchmark/benchmark.h>

#include <string>

#include "smg/protocol/json_scanner.hpp"
#include "smg/protocol/request_facts.hpp"

namespace {

using smg::protocol::BodyKind;
using smg::protocol::FactsScratch;
using smg::protocol::JsonScanner;
using smg::protocol::RequestFacts;

// About `size` bytes of text; a word in the given spelling after each 50 plain characters.
std::string prose(std::size_t size, const std::string& word) {
  std::string text;
  while (text.size() < size) text += "The quick brown fox jumps over the lazy dog again " + word;
  return text;
}

std::string chat_body(std::size_t size, int messages, const std::string& word) {
  const std::string text = prose(size / static_cast<std::size_t>(messages), word);
  std::string body = R"({"model":"meta-llama/Llama-3.1-8B-Instruct","messages":[)";
  for (int i = 0; i < messages; ++i) {
    body += i == 0 ? "" : ",";
    body += i % 2 == 0 ? R"({"role":"user","content":")" : R"({"role":"assistant","content":")";
    body += text + "\"}";
  }
  return body + R"(],"temperature":0.7,"max_tokens":256,"stream":true})";
}

void scan_long_string(benchmark::State& state) {
  const std::string document = '"' + prose(1 << 20, "x ") + '"';
  for (auto _ : state) {
    JsonScanner scanner(document);
    benchmark::DoNotOptimize(scanner.skip_value());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(document.size()));
}
BENCHMARK(scan_long_string);

void read_body(benchmark::State& state, const std::string& body, BodyKind kind) {
  FactsScratch scratch;
  for (auto _ : state) {
    RequestFacts facts;
    benchmark::DoNotOptimize(
        smg::protocol::read_facts(body, {.kind = kind, .want_key = true}, scratch, facts));
    benchmark::DoNotOptimize(facts.text.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}

void chat(benchmark::State& state, const std::string& word) {
  read_body(state, chat_body(static_cast<std::size_t>(state.range(0)), 10, word), BodyKind::chat);
}
BENCHMARK_CAPTURE(chat, ascii, std::string("x "))->Arg(4096)->Arg(65536);
BENCHMARK_CAPTURE(chat, escapes, std::string("\\n "))->Arg(4096)->Arg(65536);
BENCHMARK_CAPTURE(chat, accents, std::string("é "))->Arg(4096)->Arg(65536);

void chat_chinese(benchmark::State& state) {
  std::string text;
  while (text.size() < 6000) text += "敏捷的棕色狐狸跳过懒狗，";
  read_body(state, R"({"messages":[{"role":"user","content":")" + text + R"("}]})", BodyKind::chat);
}
BENCHMARK(chat_chinese);

void input_ids(benchmark::State& state) {
  std::string body = R"({"input_ids":[1)";
  for (int i = 0; i < 8192; ++i) body += ',' + std::to_string(i * 7919 % 128000);
  read_body(state, body + "]}", BodyKind::generate);
}
BENCHMARK(input_ids);

}  // namespace

BENCHMARK_MAIN();
