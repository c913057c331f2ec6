#include "mock_shapes.hpp"
#include "smg/app/mock_answer.hpp"

namespace smg::app {
namespace {

constexpr std::string_view kDone = "data: [DONE]\n\n";

void data(std::string& out, const Json& value) {
  out.append("data: ").append(dump(value)).append("\n\n");
}

void named(std::string& out, std::string_view name, const Json& value) {
  out.append("event: ").append(name).append("\n");
  data(out, value);
}

Json chunk(const MockAnswer& answer, Json choices) {
  const bool chat = answer.api == MockApi::chat;
  return {{"id", id_of(answer, chat ? "chatcmpl-" : "cmpl-")},
          {"object", chat ? "chat.completion.chunk" : "text_completion"},
          {"created", answer.created},
          {"model", answer.model},
          {"choices", std::move(choices)}};
}

Json chat_chunk(const MockAnswer& answer, Json delta, const char* reason) {
  Json choice = {{"index", 0}, {"delta", std::move(delta)}, {"finish_reason", nullptr}};
  if (reason != nullptr) choice["finish_reason"] = reason;
  return chunk(answer, Json::array({std::move(choice)}));
}

Json text_chunk(const MockAnswer& answer, std::string_view text, const char* reason) {
  Json choice = {{"index", 0}, {"text", text}, {"logprobs", nullptr}, {"finish_reason", nullptr}};
  if (reason != nullptr) choice["finish_reason"] = reason;
  return chunk(answer, Json::array({std::move(choice)}));
}

Json tool_delta(Json call) { return {{"tool_calls", Json::array({std::move(call)})}}; }

}  // namespace

// An event of the responses API: its name is in the data too, and a number.
void MockStream::event(std::string& out, std::string_view name, std::string members) {
  out.append("event: ").append(name).append("\ndata: {\"type\":\"").append(name);
  out.append("\",\"sequence_number\":").append(std::to_string(sequence_++));
  // `members` is an object: its inside continues this one.
  out.append(",").append(members, 1).append("\n\n");
}

std::string MockStream::begin() {
  std::string out;
  const bool calls = !answer_.tool_name.empty();
  switch (answer_.api) {
    case MockApi::chat:
      if (calls) {
        data(out, chat_chunk(answer_, {{"role", "assistant"}, {"content", nullptr}}, nullptr));
        data(out, chat_chunk(
                      answer_,
                      tool_delta({{"index", 0},
                                  {"id", id_of(answer_, "call_")},
                                  {"type", "function"},
                                  {"function", {{"name", answer_.tool_name}, {"arguments", ""}}}}),
                      nullptr));
      } else {
        data(out, chat_chunk(answer_, {{"role", "assistant"}, {"content", ""}}, nullptr));
      }
      break;
    case MockApi::messages:
      named(
          out, "message_start",
          {{"type", "message_start"}, {"message", message_object(answer_, Json::array(), false)}});
      named(out, "content_block_start",
            {{"type", "content_block_start"},
             {"index", 0},
             {"content_block", message_block(answer_, false)}});
      named(out, "ping", {{"type", "ping"}});
      break;
    case MockApi::responses:
      event(out, "response.created", dump({{"response", response_object(answer_, false)}}));
      event(out, "response.in_progress", dump({{"response", response_object(answer_, false)}}));
      event(out, "response.output_item.added",
            dump({{"output_index", 0}, {"item", response_item(answer_, false)}}));
      if (!calls) {
        event(out, "response.content_part.added",
              dump({{"item_id", id_of(answer_, "msg_")},
                    {"output_index", 0},
                    {"content_index", 0},
                    {"part",
                     {{"type", "output_text"}, {"text", ""}, {"annotations", Json::array()}}}}));
      }
      break;
    case MockApi::completions:
    case MockApi::generate:
      break;
  }
  return out;
}

std::string MockStream::piece(std::string_view text) {
  std::string out;
  const bool calls = !answer_.tool_name.empty();
  said_ += text.size();
  switch (answer_.api) {
    case MockApi::chat:
      data(out, chat_chunk(answer_,
                           calls ? tool_delta({{"index", 0}, {"function", {{"arguments", text}}}})
                                 : Json{{"content", text}},
                           nullptr));
      break;
    case MockApi::completions:
      data(out, text_chunk(answer_, text, nullptr));
      break;
    case MockApi::generate:
      // Every event has the whole text so far.
      data(out, {{"text", answer_.text.substr(0, said_)},
                 {"meta_info", meta_info(answer_, (said_ + kBytesPerToken - 1) / kBytesPerToken,
                                         said_ == answer_.text.size())}});
      break;
    case MockApi::messages:
      named(out, "content_block_delta",
            {{"type", "content_block_delta"},
             {"index", 0},
             {"delta", calls ? Json{{"type", "input_json_delta"}, {"partial_json", text}}
                             : Json{{"type", "text_delta"}, {"text", text}}}});
      break;
    case MockApi::responses:
      event(
          out, calls ? "response.function_call_arguments.delta" : "response.output_text.delta",
          dump(calls
                   ? Json{{"item_id", id_of(answer_, "fc_")}, {"output_index", 0}, {"delta", text}}
                   : Json{{"item_id", id_of(answer_, "msg_")},
                          {"output_index", 0},
                          {"content_index", 0},
                          {"delta", text},
                          {"logprobs", Json::array()}}));
      break;
  }
  return out;
}

std::string MockStream::end() {
  std::string out;
  const bool calls = !answer_.tool_name.empty();
  switch (answer_.api) {
    case MockApi::chat:
    case MockApi::completions:
      data(out, answer_.api == MockApi::chat
                    ? chat_chunk(answer_, Json::object(), finish_reason(answer_))
                    : text_chunk(answer_, "", finish_reason(answer_)));
      if (answer_.include_usage) {
        Json last = chunk(answer_, Json::array());
        last["usage"] = usage_of(answer_);
        data(out, last);
      }
      out.append(kDone);
      break;
    case MockApi::generate:
      out.append(kDone);
      break;
    case MockApi::messages:
      named(out, "content_block_stop", {{"type", "content_block_stop"}, {"index", 0}});
      named(out, "message_delta",
            {{"type", "message_delta"},
             {"delta", {{"stop_reason", stop_reason(answer_)}, {"stop_sequence", nullptr}}},
             {"usage", message_usage(answer_, answer_.completion_tokens())}});
      named(out, "message_stop", {{"type", "message_stop"}});
      break;
    case MockApi::responses:
      if (calls) {
        event(out, "response.function_call_arguments.done",
              dump({{"item_id", id_of(answer_, "fc_")},
                    {"output_index", 0},
                    {"name", answer_.tool_name},
                    {"arguments", answer_.text}}));
      } else {
        event(out, "response.output_text.done",
              dump({{"item_id", id_of(answer_, "msg_")},
                    {"output_index", 0},
                    {"content_index", 0},
                    {"text", answer_.text},
                    {"logprobs", Json::array()}}));
        event(out, "response.content_part.done",
              dump({{"item_id", id_of(answer_, "msg_")},
                    {"output_index", 0},
                    {"content_index", 0},
                    {"part", response_item(answer_, true)["content"][0]}}));
      }
      event(out, "response.output_item.done",
            dump({{"output_index", 0}, {"item", response_item(answer_, true)}}));
      event(out, answer_.length_limited ? "response.incomplete" : "response.completed",
            dump({{"response", response_object(answer_, true)}}));
      break;
  }
  return out;
}

}  // namespace smg::app
