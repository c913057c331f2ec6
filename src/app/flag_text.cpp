#include "smg/app/flag_text.hpp"

#include <algorithm>

#include "smg/app/cli.hpp"
#include "smg/app/command_line.hpp"
#include "smg/app/mock_options.hpp"

namespace smg::app {
namespace {

constexpr std::size_t kIndent = 6;
constexpr std::size_t kWidth = 100;

void append_wrapped(std::string& out, std::string_view text) {
  std::size_t column = kWidth;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (column + 1 + word.size() > kWidth) {
      out.append("\n").append(kIndent, ' ');
      column = kIndent;
    } else {
      out.push_back(' ');
      ++column;
    }
    out.append(word);
    column += word.size();
  }
}

std::string shown_value(const Flag& flag) {
  if (flag.takes == Flag::Takes::nothing) return "";
  return " " + std::string(flag.value_name) + (flag.takes == Flag::Takes::list ? "..." : "");
}

std::string shown_default(const Flag& flag) {
  return flag.default_text.empty() ? "none" : flag.default_text;
}

std::string table_cell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell.push_back('\\');
    cell.push_back(c);
  }
  return cell;
}

void append_markdown(std::string& out, const FlagTable& table) {
  for (const auto& group : table) {
    out.append("\n### ").append(group.title).append("\n\n");
    out.append("| Flag | Default | Range | Meaning |\n|---|---|---|---|\n");
    for (const auto& flag : group.flags) {
      out.append("| `").append(flag.names.front()).append(shown_value(flag)).append("`");
      for (std::size_t i = 1; i < flag.names.size(); ++i) {
        out.append(", `").append(flag.names[i]).append("`");
      }
      out.append(" | ").append(table_cell(shown_default(flag)));
      out.append(" | ").append(table_cell(flag.range));
      out.append(" | ").append(table_cell(flag.help)).append(" |\n");
    }
  }
}

}  // namespace

std::string render_flags(const FlagTable& table) {
  std::string out;
  for (const auto& group : table) {
    out.append("\n").append(group.title).append(":\n");
    for (const auto& flag : group.flags) {
      out.append("  ").append(flag.names.front());
      for (std::size_t i = 1; i < flag.names.size(); ++i) out.append(", ").append(flag.names[i]);
      out.append(shown_value(flag));
      std::string about(flag.help);
      about.append(" [default: ").append(shown_default(flag));
      if (!flag.range.empty()) about.append("; ").append(flag.range);
      append_wrapped(out, about + "]");
      out.push_back('\n');
    }
  }
  return out;
}

std::string render_flags_markdown() {
  std::string out =
      "# Flags\n\n"
      "Generated from the tables in src/app; a unit test keeps this page equal to them.\n\n"
      "`--name value` or `--name=value`. A list takes values separated by blanks or commas and "
      "may\n"
      "be given several times; of a repeated single value the last one counts. A switch that is "
      "on\n"
      "is turned off by `--no-NAME` or `--NAME=false`. All wrong settings are reported together, "
      "one\n"
      "line each, and the program ends with code 2 before it listens.\n\n"
      "## smg launch\n\n"
      "Every flag is also read from the environment, as `SMG_` and its name in capitals with `_` "
      "for\n"
      "`-`: `SMG_WORKER_URLS`, `SMG_LOG_JSON=true`. A flag wins over the environment. An empty\n"
      "variable counts as unset.\n";
  Options options;
  append_markdown(out, launch_flags(options));
  out.append(
      "\n## smg mock-worker\n\n"
      "A simulated engine for trying out, tests and benchmarks. Reads no environment.\n");
  MockOptions mock;
  append_markdown(out, mock_worker_flags(mock));
  return out;
}

}  // namespace smg::app
