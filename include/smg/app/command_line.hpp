// Reads arguments and environment into a table of flags. Pure.
//
// `--name value`, `--name=value`; a list takes every following argument up to the next flag and
// splits each at commas, and may be repeated; a repeated single value: the last one counts. A
// switch is turned off by --no-NAME or --NAME=false. Everything wrong is reported, none of it ends
// the reading.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smg/app/flag.hpp"

namespace smg::app {

// The value of an environment variable, or nothing.
using Environment = std::function<std::optional<std::string>(const std::string&)>;

struct CommandLine {
  std::span<const std::string> args;  // behind the subcommand
  Environment environment;            // null: none is read
  // Flags of parts that this build does not have: "--name", "--family-*" (all that begin so), or
  // "--name=value" when that value asks for nothing that is missing.
  std::span<const std::string_view> unsupported;
};

struct CommandLineResult {
  std::vector<std::string> errors;  // one line each, without "error: "
  bool help = false;                // --help or -h
  bool version = false;             // --version or -V

  // The names under which flags were given, for checks of several flags together.
  std::vector<std::string_view> given;  // canonical names
  bool was_given(std::string_view name) const;
};

CommandLineResult read_command_line(const FlagTable& table, const CommandLine& input);

// "--log-level" -> "SMG_LOG_LEVEL".
std::string environment_name(std::string_view flag);

}  // namespace smg::app
