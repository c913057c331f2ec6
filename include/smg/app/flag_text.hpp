// Renders a table of flags for people. Pure.
#pragma once

#include <string>

#include "smg/app/flag.hpp"

namespace smg::app {

// The groups, each flag with its default and range, for a terminal.
std::string render_flags(const FlagTable& table);

// docs/flags.md: the flags of both subcommands.
std::string render_flags_markdown();

}  // namespace smg::app
