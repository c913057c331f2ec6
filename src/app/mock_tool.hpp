// Decides whether a simulated answer calls a tool, and makes up the call's arguments. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace smg::app {

struct MockToolCall {
  std::string name;       // empty: no call
  std::string arguments;  // JSON, ASCII
};

// `request` is a body with `tools` in one of the three shapes of the APIs; `question` is the text
// of the last message if it is the user's, else empty.
MockToolCall choose_tool(const nlohmann::json& request, const std::string& question);

}  // namespace smg::app
