#include "mock_shapes.hpp"

#include "smg/protocol/request_facts.hpp"

namespace smg::app {

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<MockError> check_json(std::string_view body) {
  protocol::FactsScratch scratch;
  protocol::RequestFacts facts;
  auto error = protocol::read_facts(body, {.kind = protocol::BodyKind::opaque, .want_key = false},
                                    scratch, facts);
  if (!error) return std::nullopt;
  return MockError{
      error->json ? protocol::ErrorCode::invalid_json : protocol::ErrorCode::invalid_request,
      std::move(error->message), error->field};
}

std::string id_of(const MockAnswer& answer, std::string_view prefix) {
  return std::string(prefix) + "mock-" + std::to_string(answer.number);
}

const char* finish_reason(const MockAnswer& answer) {
  if (!answer.tool_name.empty()) return "tool_calls";
  return answer.length_limited ? "length" : "stop";
}

const char* stop_reason(const MockAnswer& answer) {
  if (!answer.tool_name.empty()) return "tool_use";
  return answer.length_limited ? "max_tokens" : "end_turn";
}

Json usage_of(const MockAnswer& answer) {
  return {{"prompt_tokens", answer.prompt_tokens},
          {"completion_tokens", answer.completion_tokens()},
          {"total_tokens", answer.prompt_tokens + answer.completion_tokens()},
          {"prompt_tokens_details", {{"cached_tokens", answer.cached_tokens}}}};
}

Json meta_info(const MockAnswer& answer, std::uint64_t completion_tokens, bool finished) {
  Json reason = nullptr;
  if (finished) {
    reason = {{"type", finish_reason(answer)}};
    if (answer.length_limited) reason["length"] = completion_tokens;
  }
  return {{"id", id_of(answer, "gen-")},
          {"finish_reason", std::move(reason)},
          {"prompt_tokens", answer.prompt_tokens},
          {"completion_tokens", completion_tokens},
          {"cached_tokens", answer.cached_tokens}};
}

Json message_usage(const MockAnswer& answer, std::uint64_t output_tokens) {
  return {{"input_tokens", answer.prompt_tokens - answer.cached_tokens},
          {"cache_creation_input_tokens", 0},
          {"cache_read_input_tokens", answer.cached_tokens},
          {"output_tokens", output_tokens}};
}

Json message_block(const MockAnswer& answer, bool filled) {
  if (answer.tool_name.empty()) return {{"type", "text"}, {"text", filled ? answer.text : ""}};
  return {{"type", "tool_use"},
          {"id", id_of(answer, "toolu_")},
          {"name", answer.tool_name},
          {"input", filled ? Json::parse(answer.text, nullptr, false) : Json::object()}};
}

Json message_object(const MockAnswer& answer, Json content, bool finished) {
  Json object = {{"id", id_of(answer, "msg_")},   {"type", "message"},
                 {"role", "assistant"},           {"model", answer.model},
                 {"content", std::move(content)}, {"stop_reason", nullptr},
                 {"stop_sequence", nullptr}};
  if (finished) object["stop_reason"] = stop_reason(answer);
  object["usage"] = message_usage(answer, finished ? answer.completion_tokens() : 0);
  return object;
}

Json response_item(const MockAnswer& answer, bool finished) {
  const char* status = finished ? "completed" : "in_progress";
  if (!answer.tool_name.empty()) {
    return {{"type", "function_call"},
            {"id", id_of(answer, "fc_")},
            {"call_id", id_of(answer, "call_")},
            {"name", answer.tool_name},
            {"arguments", finished ? answer.text : ""},
            {"status", status}};
  }
  Json content = Json::array();
  if (finished) {
    content.push_back(
        {{"type", "output_text"}, {"text", answer.text}, {"annotations", Json::array()}});
  }
  return {{"type", "message"},
          {"id", id_of(answer, "msg_")},
          {"status", status},
          {"role", "assistant"},
          {"content", std::move(content)}};
}

Json response_object(const MockAnswer& answer, bool finished) {
  Json object = {{"id", id_of(answer, "resp_")},
                 {"object", "response"},
                 {"created_at", answer.created},
                 {"status", finished ? "completed" : "in_progress"},
                 {"error", nullptr},
                 {"incomplete_details", nullptr},
                 {"instructions", nullptr},
                 {"metadata", Json::object()},
                 {"model", answer.model},
                 {"output", Json::array()},
                 {"parallel_tool_calls", false},
                 {"temperature", 1.0},
                 {"tool_choice", "auto"},
                 {"tools", Json::array()},
                 {"top_p", 1.0},
                 {"usage", nullptr}};
  if (!finished) return object;
  if (answer.length_limited) {
    object["status"] = "incomplete";
    object["incomplete_details"] = {{"reason", "max_output_tokens"}};
  }
  object["output"].push_back(response_item(answer, true));
  object["usage"] = {{"input_tokens", answer.prompt_tokens},
                     {"input_tokens_details", {{"cached_tokens", answer.cached_tokens}}},
                     {"output_tokens", answer.completion_tokens()},
                     {"output_tokens_details", {{"reasoning_tokens", 0}}},
                     {"total_tokens", answer.prompt_tokens + answer.completion_tokens()}};
  return object;
}

}  // namespace smg::app
