// Logging: spdlog underneath, structured fields on top, filtered by target.
//
// A Target is a dotted-by-`::` name such as "smg::policies::cache_aware"; get one once (a static
// or member) and keep it: targets live for ever. Filter: the RUST_LOG-style directive list
// `info,smg::policies::cache_aware=debug`, longest matching prefix wins, over the plain level.
// Lines go to stdout (colour only on a terminal) and, with a directory, to a daily file. Writing is
// asynchronous with a bounded queue: a blocked stdout never stalls a request; lines that did not
// fit are counted and reported. Before start(), as in unit tests, warnings and errors go to stderr
// and the rest is dropped. Thread-safe throughout.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "smg/base/error.hpp"

namespace smg::log {

enum class Level : std::uint8_t { trace, debug, info, warn, error, off };

struct Options {
  Level level = Level::info;
  std::string filter = {};     // RUST_LOG syntax; empty: `level` for all targets
  bool json = false;           // one JSON object a line
  std::string directory = {};  // also write DIR/smg.YYYY-MM-DD; empty: stdout only
};

// Call once, before the first thread. Fails on an unusable directory or a malformed filter.
Result<> start(const Options& options);

// Flushes and joins the writer, within two seconds also when stdout is blocked. Later lines are
// dropped.
void stop();

// Replaces the filter of a running process.
Result<> set_filter(const std::string& filter);

// Parses debug|info|warn|error (also trace, off, any case).
Result<Level> parse_level(std::string_view text);

class Target {
 public:
  explicit Target(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  bool enabled(Level level) const { return level >= level_.load(std::memory_order_relaxed); }
  void set_level(Level level) { level_.store(level, std::memory_order_relaxed); }

 private:
  std::string name_;
  std::atomic<Level> level_{Level::info};
};

// The target of that name, made on first use.
Target& target(std::string_view name);

struct Field {
  std::string_view key;
  std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool> value;
};

// Plain: `2026-11-30 21:00:00  INFO smg::request: message key=value key="va lue"`. Control
// characters and quotes in values are escaped, so that one event is always one line.
void write(Target& target, Level level, std::string_view message,
           std::initializer_list<Field> fields = {});

}  // namespace smg::log
