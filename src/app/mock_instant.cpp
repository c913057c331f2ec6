#include "smg/app/mock_instant.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "mock_shapes.hpp"

namespace smg::app {
namespace {

using protocol::ErrorCode;
using Problem = std::optional<MockError>;

constexpr std::size_t kDimensions = 16;
constexpr std::uint64_t kMostDimensions = 4096;
constexpr int kMaxModelLength = 131'072;

MockError wrong(std::string_view param, std::string_view what) {
  return {ErrorCode::invalid_request, "`" + std::string(param) + "` " + std::string(what), param};
}

const Json* find(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::uint64_t tokens_of(std::string_view text) {
  return (text.size() + kBytesPerToken - 1) / kBytesPerToken;
}

// Stable over processes and machines, unlike std::hash.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return hash;
}

// 0..1, the share of `a`'s words that `b` has.
double likeness(std::string_view a, std::string_view b) {
  std::size_t words = 0;
  std::size_t shared = 0;
  while (!a.empty()) {
    const std::string_view word = a.substr(0, a.find(' '));
    a.remove_prefix(std::min(a.size(), word.size() + 1));
    if (word.empty()) continue;
    ++words;
    if (b.find(word) != std::string_view::npos) ++shared;
  }
  return words == 0 ? 0 : static_cast<double>(shared) / static_cast<double>(words);
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8U | (j < have ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      out.push_back(j <= have ? kDigits[group >> (18 - 6 * j) & 63U] : '=');
    }
  }
  return out;
}

std::vector<float> embedding_of(std::string_view text, std::size_t dimensions) {
  std::mt19937_64 random(hash_of(text));
  std::vector<float> vector(dimensions);
  for (float& x : vector) x = static_cast<float>(random() >> 40U) / 8388608.0F - 1.0F;
  const float length =
      std::sqrt(std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0F));
  if (length > 0) {
    for (float& x : vector) x /= length;
  }
  return vector;
}

Json little_endian_base64(const std::vector<float>& vector) {
  std::string bytes;
  for (const float x : vector) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    for (unsigned shift = 0; shift < 32; shift += 8) {
      bytes.push_back(static_cast<char>(bits >> shift & 0xFFU));
    }
  }
  return base64(bytes);
}

// A text, a list of texts, token ids or a list of lists of them: one string for each.
Problem read_texts(const Json& body, const char* key, std::vector<std::string>& out) {
  const Json* value = find(body, key);
  if (value == nullptr) return wrong(key, "is missing");
  if (value->is_string()) {
    out.push_back(value->get<std::string>());
  } else if (value->is_array() && !value->empty() && value->front().is_number_integer()) {
    out.push_back(dump(*value));
  } else if (value->is_array() && !value->empty()) {
    for (const auto& item : *value) {
      const Json* text = item.is_object() ? find(item, "text") : nullptr;
      const Json& shown = text == nullptr ? item : *text;
      out.push_back(shown.is_string() ? shown.get<std::string>() : dump(shown));
    }
  } else {
    return wrong(key, "must be text or a list, not empty");
  }
  return std::nullopt;
}

class Instant {
 public:
  Instant(const Json& body, const MockOptions& options) : body_(body), options_(options) {}

  Problem embeddings(Json& out) {
    std::vector<std::string> texts;
    if (auto problem = read_texts(body_, "input", texts)) return problem;
    std::size_t dimensions = kDimensions;
    if (const Json* wanted = find(body_, "dimensions")) {
      if (!wanted->is_number_unsigned() || wanted->get<std::uint64_t>() < 1 ||
          wanted->get<std::uint64_t>() > kMostDimensions) {
        return wrong("dimensions", "must be in 1..4096");
      }
      dimensions = wanted->get<std::size_t>();
    }
    const Json* format = find(body_, "encoding_format");
    Json data = Json::array();
    for (const auto& text : texts) {
      const auto vector = embedding_of(text, dimensions);
      data.push_back(
          {{"object", "embedding"},
           {"index", data.size()},
           {"embedding", format != nullptr && *format == "base64" ? little_endian_base64(vector)
                                                                  : Json(vector)}});
    }
    out = list(std::move(data), total(texts));
    return std::nullopt;
  }

  Problem rerank(Json& out) {
    std::vector<std::string> query;
    std::vector<std::string> documents;
    if (auto problem = read_texts(body_, "query", query)) return problem;
    if (auto problem = read_texts(body_, "documents", documents)) return problem;
    Json results = Json::array();
    for (std::size_t i = 0; i < documents.size(); ++i) {
      results.push_back({{"index", i},
                         {"document", {{"text", documents[i]}}},
                         {"relevance_score", likeness(query.front(), documents[i])}});
    }
    std::stable_sort(results.begin(), results.end(), [](const Json& a, const Json& b) {
      return a["relevance_score"].get<double>() > b["relevance_score"].get<double>();
    });
    const Json* top = find(body_, "top_n");
    if (top != nullptr && top->is_number_unsigned() && top->get<std::uint64_t>() < results.size()) {
      results.erase(results.begin() + static_cast<std::ptrdiff_t>(top->get<std::uint64_t>()),
                    results.end());
    }
    out = {{"id", "rerank-mock"},
           {"model", options_.model},
           {"usage", {{"total_tokens", total(query) + total(documents)}}},
           {"results", std::move(results)}};
    return std::nullopt;
  }

  Problem classify(Json& out) {
    std::vector<std::string> texts;
    if (auto problem = read_texts(body_, "input", texts)) return problem;
    Json data = Json::array();
    for (const auto& text : texts) {
      const double first = static_cast<double>(hash_of(text) % 1000) / 1000;
      data.push_back({{"index", data.size()},
                      {"label", first >= 0.5 ? "LABEL_0" : "LABEL_1"},
                      {"probs", {first, 1 - first}},
                      {"num_classes", 2}});
    }
    out = list(std::move(data), total(texts));
    return std::nullopt;
  }

  // Two texts, or (SGLang) a query and items.
  Problem score(Json& out) {
    const bool pair = find(body_, "text_1") != nullptr;
    std::vector<std::string> left;
    std::vector<std::string> right;
    if (auto problem = read_texts(body_, pair ? "text_1" : "query", left)) return problem;
    if (auto problem = read_texts(body_, pair ? "text_2" : "items", right)) return problem;
    Json data = Json::array();
    for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
      const auto& a = left[std::min(i, left.size() - 1)];
      const auto& b = right[std::min(i, right.size() - 1)];
      data.push_back({{"index", i}, {"object", "score"}, {"score", likeness(a, b)}});
    }
    out = list(std::move(data), total(left) + total(right));
    return std::nullopt;
  }

  Problem tokenize(Json& out) {
    std::vector<std::string> texts;
    const char* key = find(body_, "prompt") != nullptr ? "prompt"
                      : find(body_, "text") != nullptr ? "text"
                                                       : "messages";
    if (auto problem = read_texts(body_, key, texts)) return problem;
    const std::string text = std::accumulate(texts.begin(), texts.end(), std::string());
    Json tokens = Json::array();
    for (std::size_t i = 0; i < text.size(); i += kBytesPerToken) {
      std::uint32_t id = 0;
      for (std::size_t j = std::min(i + kBytesPerToken, text.size()); j-- > i;) {
        id = id << 8U | static_cast<unsigned char>(text[j]);
      }
      tokens.push_back(id);
    }
    out = {{"count", tokens.size()},
           {"max_model_len", kMaxModelLength},
           {"tokens", std::move(tokens)},
           {"token_strs", nullptr}};
    return std::nullopt;
  }

  Problem detokenize(Json& out) {
    const Json* tokens = find(body_, "tokens");
    if (tokens == nullptr || !tokens->is_array()) return wrong("tokens", "must be a list of ids");
    std::string text;
    for (const auto& token : *tokens) {
      if (!token.is_number_unsigned()) return wrong("tokens", "must be a list of ids");
      for (auto id = static_cast<std::uint32_t>(token.get<std::uint64_t>()); id != 0; id >>= 8U) {
        text.push_back(static_cast<char>(id & 0xFFU));
      }
    }
    out = {{"prompt", std::move(text)}};
    return std::nullopt;
  }

 private:
  static std::uint64_t total(const std::vector<std::string>& texts) {
    std::uint64_t tokens = 0;
    for (const auto& text : texts) tokens += tokens_of(text);
    return tokens;
  }

  Json list(Json data, std::uint64_t tokens) const {
    return {{"id", "mock"},
            {"object", "list"},
            {"created", 0},
            {"model", options_.model},
            {"data", std::move(data)},
            {"usage", {{"prompt_tokens", tokens}, {"total_tokens", tokens}}}};
  }

  const Json& body_;
  const MockOptions& options_;
};

Problem count_tokens(std::string_view body, const MockOptions& options, Json& out) {
  MockRequest request;
  auto problem = read_mock_request(MockApi::messages, body, options, request);
  // The length of the answer is not part of this call; it is read after everything that is.
  if (problem && problem->param != "max_tokens") return problem;
  out = {{"input_tokens", request.prompt.tokens}};
  return std::nullopt;
}

Problem check_model(const Json& body, const MockOptions& options) {
  const Json* model = find(body, "model");
  if (model == nullptr) return std::nullopt;
  if (!model->is_string()) return wrong("model", "must be a string");
  if (*model == options.model) return std::nullopt;
  return MockError{ErrorCode::model_not_found,
                   "The model `" + model->get<std::string>() + "` does not exist.", "model"};
}

}  // namespace

std::optional<MockError> answer_instant(MockInstant api, std::string_view body,
                                        const MockOptions& options, std::string& out) {
  if (auto problem = check_json(body)) return problem;
  const Json parsed = Json::parse(body, nullptr, false);
  if (!parsed.is_object()) {
    return MockError{ErrorCode::invalid_json, "the request body is not JSON"};
  }
  if (auto problem = check_model(parsed, options)) return problem;
  Instant instant(parsed, options);
  Json answer;
  Problem problem;
  switch (api) {
    case MockInstant::embeddings:
      problem = instant.embeddings(answer);
      break;
    case MockInstant::rerank:
      problem = instant.rerank(answer);
      break;
    case MockInstant::classify:
      problem = instant.classify(answer);
      break;
    case MockInstant::score:
      problem = instant.score(answer);
      break;
    case MockInstant::tokenize:
      problem = instant.tokenize(answer);
      break;
    case MockInstant::detokenize:
      problem = instant.detokenize(answer);
      break;
    case MockInstant::count_tokens:
      problem = count_tokens(body, options, answer);
      break;
  }
  if (!problem) out = dump(answer);
  return problem;
}

}  // namespace smg::app
