// The text of one log event, without its line end. Pure: the time is a parameter.
//
// Whatever bytes the message and the values hold, the result is one line of printable UTF-8: line
// ends, control characters (C1 too), invisible direction marks and bytes that are not UTF-8 are
// escaped, and texts over kMaxText bytes are cut with a note of how much is missing.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "smg/base/log.hpp"

namespace smg::log {

inline constexpr std::size_t kMaxText = 8192;

// Where the level stands in a plain line.
inline constexpr std::size_t kLevelColumn = 20;
inline constexpr std::size_t kLevelWidth = 5;

struct Event {
  std::chrono::system_clock::time_point time{};
  Level level = Level::info;
  std::string_view target;
  std::string_view message;
  std::span<const Field> fields;
};

// `2026-11-30 21:00:00  INFO smg::request: message key=value key="va lue"`, UTC. In a message
// escapes are \n, \r, \t, \x1b (a byte) and \u{9b} (a scalar); a value that needs one, or holds a
// blank, `=`, `"` or `\`, or is empty, is quoted, with \" and \\ escaped too.
void append_plain(std::string& out, const Event& event);

// {"timestamp":"2026-11-30T21:00:00.123Z","level":"INFO","target":…,"message":…,fields…}. Bytes
// that are not UTF-8 become U+FFFD; a number that is not finite becomes null.
void append_json(std::string& out, const Event& event);

}  // namespace smg::log
