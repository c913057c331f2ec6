#include "smg/app/mock_request.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "mock_shapes.hpp"
#include "mock_tool.hpp"

namespace smg::app {
namespace {

using nlohmann::json;
using protocol::ErrorCode;
using Problem = std::optional<MockError>;

constexpr std::uint32_t kMostOutput = 1'000'000;

MockError wrong(std::string_view param, std::string_view what) {
  return {ErrorCode::invalid_request, "`" + std::string(param) + "` " + std::string(what), param};
}

const json* find(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string string_of(const json& object, const char* key) {
  const json* value = find(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

bool flag_of(const json& object, const char* key) {
  const json* value = find(object, key);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// The text of a message's content: a string, or parts. What is no text counts as its JSON.
std::string content_text(const json* content) {
  if (content == nullptr) return {};
  if (content->is_string()) return content->get<std::string>();
  if (!content->is_array()) return dump(*content);
  std::string text;
  for (const auto& part : *content) {
    const json* piece = find(part, "text");
    text += piece != nullptr && piece->is_string() ? piece->get<std::string>() : dump(part);
  }
  return text;
}

void append_turn(std::string& out, std::string_view role, std::string_view text) {
  out.append("<|").append(role).append("|>").append(text).append("\n");
}

constexpr std::string_view kAnswerBegins = "<|assistant|>";

class RequestReader {
 public:
  RequestReader(MockApi api, const MockOptions& options, MockRequest& out)
      : options_(options), out_(out) {
    out_.api = api;
  }

  Problem read(std::string_view body) {
    if (auto problem = check_json(body)) return problem;
    body_ = json::parse(body, nullptr, false);
    if (!body_.is_object()) {
      return MockError{ErrorCode::invalid_json, "the request body is not JSON"};
    }
    if (auto problem = read_model()) return problem;
    if (auto problem = read_prompt()) return problem;
    if (out_.prompt.tokens == 0) {
      out_.prompt = prompt_of_text(out_.text, options_.block_size, out_.salt);
    }
    if (auto problem = read_length()) return problem;
    if (out_.api != MockApi::completions && out_.api != MockApi::generate) {
      MockToolCall call = choose_tool(body_, question_);
      out_.tool_name = std::move(call.name);
      out_.tool_arguments = std::move(call.arguments);
    }
    return std::nullopt;
  }

 private:
  Problem read_model() {
    const json* model = find(body_, "model");
    out_.model = model != nullptr ? string_of(body_, "model") : options_.model;
    if (model == nullptr && out_.api != MockApi::generate && out_.api != MockApi::responses) {
      return wrong("model", "is missing");
    }
    if (out_.model != options_.model) {
      return MockError{ErrorCode::model_not_found, "The model `" + out_.model + "` does not exist.",
                       "model"};
    }
    const json* stream = find(body_, "stream");
    if (stream != nullptr && !stream->is_boolean()) return wrong("stream", "must be a boolean");
    out_.stream = flag_of(body_, "stream");
    const json* stream_options = find(body_, "stream_options");
    out_.include_usage = stream_options != nullptr && flag_of(*stream_options, "include_usage");
    for (const char* key : {"cache_salt", "extra_key", "lora_path"}) {
      out_.salt += string_of(body_, key) + '\0';
    }
    return std::nullopt;
  }

  Problem read_prompt() {
    switch (out_.api) {
      case MockApi::chat:
      case MockApi::messages:
        return read_messages(find(body_, "messages"), "messages");
      case MockApi::completions:
        return read_plain("prompt", "prompt");
      case MockApi::generate:
        return find(body_, "input_ids") != nullptr ? read_ids("input_ids")
                                                   : read_plain("text", "text");
      case MockApi::responses:
        return read_input();
    }
    return std::nullopt;
  }

  void begin_conversation(const std::string& system) {
    if (const json* tools = find(body_, "tools")) append_turn(out_.text, "tools", dump(*tools));
    if (!system.empty()) append_turn(out_.text, "system", system);
  }

  Problem read_messages(const json* messages, std::string_view param) {
    if (messages == nullptr || !messages->is_array() || messages->empty()) {
      return wrong(param, "must be a list of messages, not empty");
    }
    begin_conversation(content_text(find(body_, "system")));
    for (const auto& message : *messages) {
      const std::string role = string_of(message, "role");
      const std::string type = string_of(message, "type");
      if (role.empty() && (param != "input" || type.empty())) {
        return wrong(param, "has a message without a role");
      }
      const std::string text =
          role.empty() ? dump(message) : content_text(find(message, "content"));
      const json* calls = find(message, "tool_calls");
      append_turn(out_.text, role.empty() ? type : role,
                  calls == nullptr ? text : text + dump(*calls));
      question_ = role == "user" && !has_tool_result(message) ? text : "";
    }
    out_.text.append(kAnswerBegins);
    return std::nullopt;
  }

  static bool has_tool_result(const json& message) {
    const json* content = find(message, "content");
    return content != nullptr && content->is_array() &&
           std::any_of(content->begin(), content->end(),
                       [](const json& part) { return string_of(part, "type") == "tool_result"; });
  }

  Problem read_input() {
    const json* input = find(body_, "input");
    if (input != nullptr && input->is_array()) {
      begin_conversation(string_of(body_, "instructions"));
      return read_messages(input, "input");
    }
    if (input == nullptr || !input->is_string()) return wrong("input", "must be text or a list");
    begin_conversation(string_of(body_, "instructions"));
    question_ = input->get<std::string>();
    append_turn(out_.text, "user", question_);
    out_.text.append(kAnswerBegins);
    return std::nullopt;
  }

  // A string, or a list with one string, or token ids.
  Problem read_plain(const char* key, std::string_view param) {
    const json* prompt = find(body_, key);
    if (prompt != nullptr && prompt->is_array() && prompt->size() == 1 &&
        prompt->front().is_string()) {
      prompt = &prompt->front();
    }
    if (prompt != nullptr && prompt->is_array() && !prompt->empty() &&
        !prompt->front().is_string()) {
      return read_ids(param);
    }
    if (prompt == nullptr || !prompt->is_string()) {
      return wrong(param, "must be one text or a list of token ids");
    }
    out_.text = prompt->get<std::string>();
    return std::nullopt;
  }

  Problem read_ids(std::string_view param) {
    const json* list = find(body_, std::string(param).c_str());
    if (list->is_array() && list->size() == 1 && list->front().is_array()) list = &list->front();
    if (!list->is_array() || list->empty()) return wrong(param, "must be a list of token ids");
    std::vector<std::uint32_t> ids;
    ids.reserve(list->size());
    for (const auto& id : *list) {
      if (!id.is_number_integer()) return wrong(param, "must be a list of token ids");
      ids.push_back(static_cast<std::uint32_t>(id.get<std::int64_t>()));
    }
    out_.prompt = prompt_of_ids(ids, options_.block_size, out_.salt);
    return std::nullopt;
  }

  Problem read_length() {
    out_.output_tokens = options_.output_tokens;
    const json* holder = &body_;
    std::string_view key = "max_tokens";
    if (out_.api == MockApi::responses) key = "max_output_tokens";
    if (out_.api == MockApi::chat && find(body_, "max_completion_tokens") != nullptr) {
      key = "max_completion_tokens";
    }
    if (out_.api == MockApi::generate) {
      key = "max_new_tokens";
      holder = find(body_, "sampling_params");
    }
    const json* limit = holder == nullptr ? nullptr : find(*holder, key.data());
    if (limit == nullptr && out_.api == MockApi::messages) return wrong(key, "is missing");
    if (limit == nullptr) return std::nullopt;
    if (!limit->is_number_integer() || limit->get<std::int64_t>() < 1) {
      return wrong(key, "must be a whole number above 0");
    }
    const auto most = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(limit->get<std::uint64_t>(), kMostOutput));
    const bool to_the_end = flag_of(*holder, "ignore_eos");
    out_.length_limited = to_the_end || most < out_.output_tokens;
    if (out_.length_limited) out_.output_tokens = most;
    return std::nullopt;
  }

  const MockOptions& options_;
  MockRequest& out_;
  json body_;
  std::string question_;  // the last message's text, if the user's
};

}  // namespace

std::optional<MockError> read_mock_request(MockApi api, std::string_view body,
                                           const MockOptions& options, MockRequest& out) {
  return RequestReader(api, options, out).read(body);
}

}  // namespace smg::app
