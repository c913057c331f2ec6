#include "mock_tool.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

namespace smg::app {
namespace {

using nlohmann::json;

const json kNone;

const json& member(const json& object, const char* key) {
  if (!object.is_object()) return kNone;
  const auto found = object.find(key);
  return found == object.end() ? kNone : *found;
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
  return text;
}

// Chat wraps a tool in "function"; messages calls its schema input_schema.
const json& description_of(const json& tool) {
  const json& function = member(tool, "function");
  return function.is_object() ? function : tool;
}

const json& schema_of(const json& tool) {
  const json& parameters = member(tool, "parameters");
  return parameters.is_object() ? parameters : member(tool, "input_schema");
}

// The name that tool_choice demands; "*" for any, "" for none, "?" when it leaves it open.
std::string demanded(const json& choice) {
  const std::string word = choice.is_string() ? text_of(choice) : text_of(member(choice, "type"));
  if (word == "none") return "";
  if (word == "required" || word == "any") return "*";
  const std::string name = text_of(member(description_of(choice), "name"));
  return name.empty() ? "?" : name;
}

bool asks_for(const std::string& question, const std::string& tool) {
  constexpr std::size_t kShortestWord = 4;
  const std::string name = lower(tool);
  if (question.find(name) != std::string::npos) return true;
  std::size_t begin = 0;
  while (begin <= name.size()) {
    const std::size_t end = std::min(name.find_first_of("_-.", begin), name.size());
    if (end - begin >= kShortestWord &&
        question.find(std::string_view(name).substr(begin, end - begin)) != std::string::npos) {
      return true;
    }
    begin = end + 1;
  }
  return false;
}

// The last word of the question that begins with a capital: a city, a name.
std::string subject_of(const std::string& question) {
  std::string subject = "mock";
  std::size_t at = 0;
  while ((at = question.find_first_not_of(" \t\r\n", at)) != std::string::npos) {
    const std::size_t end = std::min(question.find_first_of(" \t\r\n?!.,;:", at), question.size());
    if (question[at] >= 'A' && question[at] <= 'Z') subject = question.substr(at, end - at);
    at = std::max(end, at + 1);
  }
  return subject;
}

json value_for(const json& schema, const std::string& subject) {
  const json& choices = member(schema, "enum");
  if (choices.is_array() && !choices.empty()) return choices.front();
  const std::string type = text_of(member(schema, "type"));
  if (type == "integer" || type == "number") return 1;
  if (type == "boolean") return true;
  if (type == "array") return json::array();
  if (type == "object") return json::object();
  if (type == "null") return nullptr;
  return subject;
}

std::string arguments_for(const json& tool, const std::string& question) {
  json arguments = json::object();
  const json& properties = member(schema_of(tool), "properties");
  const std::string subject = subject_of(question);
  if (properties.is_object()) {
    for (const auto& [name, schema] : properties.items()) {
      arguments[name] = value_for(schema, subject);
    }
  }
  return arguments.dump(-1, ' ', true, json::error_handler_t::replace);
}

}  // namespace

MockToolCall choose_tool(const json& request, const std::string& question) {
  const json& tools = member(request, "tools");
  if (!tools.is_array() || question.empty()) return {};
  const std::string wanted = demanded(member(request, "tool_choice"));
  const std::string lowered = lower(question);
  for (const auto& entry : tools) {
    const json& tool = description_of(entry);
    const std::string name = text_of(member(tool, "name"));
    if (name.empty()) continue;
    if (wanted == "*" || wanted == name || (wanted == "?" && asks_for(lowered, name))) {
      return {name, arguments_for(tool, question)};
    }
  }
  return {};
}

}  // namespace smg::app
