// The JSON objects that whole answers and their streams have in common. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "smg/app/mock_answer.hpp"

namespace smg::app {

using Json = nlohmann::ordered_json;

std::string dump(const Json& value);

// What is wrong with a body before it is looked into: not one JSON object, nested too deep.
std::optional<MockError> check_json(std::string_view body);

std::string id_of(const MockAnswer& answer, std::string_view prefix);
const char* finish_reason(const MockAnswer& answer);  // chat, completions
const char* stop_reason(const MockAnswer& answer);    // messages

Json usage_of(const MockAnswer& answer);  // chat, completions
Json meta_info(const MockAnswer& answer, std::uint64_t completion_tokens, bool finished);

// `output_tokens` 0 at the beginning of a stream.
Json message_usage(const MockAnswer& answer, std::uint64_t output_tokens);
Json message_object(const MockAnswer& answer, Json content, bool finished);
Json message_block(const MockAnswer& answer, bool filled);

Json response_item(const MockAnswer& answer, bool finished);
Json response_object(const MockAnswer& answer, bool finished);

}  // namespace smg::app
