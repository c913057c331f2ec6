// The command line of the program: subcommands, their flags, their help.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smg/app/command_line.hpp"
#include "smg/app/options.hpp"

namespace smg::app {

// Every flag of `smg launch`, writing to `out`, which must outlive the table.
FlagTable launch_flags(Options& out);

struct LaunchSettings {
  Options options;
  CommandLineResult result;  // options are good when it has no errors
};
LaunchSettings read_launch(std::span<const std::string> args, const Environment& environment);

std::string general_help();
std::string launch_help();

}  // namespace smg::app
