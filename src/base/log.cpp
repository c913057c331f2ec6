#include "smg/base/log.hpp"

#include <spdlog/details/log_msg.h>
#include <spdlog/formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <cstdio>
#include <deque>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>

#include "smg/base/log_file.hpp"
#include "smg/base/log_filter.hpp"
#include "smg/base/log_line.hpp"
#include "smg/base/log_writer.hpp"
#include "smg/base/string_map.hpp"

namespace smg::log {
namespace {

using std::chrono::system_clock;

DailyFile::Day today() { return std::chrono::floor<std::chrono::days>(system_clock::now()); }

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::trace:
      return spdlog::level::trace;
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warn:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
    case Level::off:
      break;
  }
  return spdlog::level::off;
}

// Lines come formatted; a colour sink is only told where the level stands.
class ReadyLine final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& msg, spdlog::memory_buf_t& dest) override {
    dest.append(msg.payload.data(), msg.payload.data() + msg.payload.size());
    msg.color_range_start = kLevelColumn;
    msg.color_range_end = kLevelColumn + kLevelWidth;
  }
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<ReadyLine>();
  }
};

// Standard output, and the daily file where there is one. Belongs to the writer's thread.
class Output {
 public:
  Output(bool json, std::optional<DailyFile> file) : file_(std::move(file)) {
    terminal_.set_formatter(std::make_unique<ReadyLine>());
    coloured_ = !json && terminal_.should_color();
  }

  void operator()(std::string_view lines) {
    if (file_) file_->write(lines, today());
    if (!coloured_) {
      std::fwrite(lines.data(), 1, lines.size(), stdout);
      std::fflush(stdout);
      return;
    }
    while (!lines.empty()) {
      const std::string_view line = lines.substr(0, lines.find('\n') + 1);
      terminal_.log(spdlog::details::log_msg({}, level_in(line), {line.data(), line.size()}));
      lines.remove_prefix(line.size());
    }
  }

 private:
  static spdlog::level::level_enum level_in(std::string_view line) {
    std::string_view name = line.substr(std::min(kLevelColumn, line.size()), kLevelWidth);
    if (name.starts_with(' ')) name.remove_prefix(1);
    const auto level = parse_level(name);
    return level ? spdlog_level(*level) : spdlog::level::info;
  }

  std::optional<DailyFile> file_;
  spdlog::sinks::stdout_color_sink_st terminal_;
  bool coloured_ = false;
};

// All that the functions of this file share. Never destroyed: threads may log until the very end.
class Log {
 public:
  static Log& instance() {
    static Log& log = *new Log;
    return log;
  }

  Result<> start(const Options& options) {
    auto filter = Filter::parse(options.filter, options.level);
    if (!filter) return filter.error();
    std::optional<DailyFile> file;
    if (!options.directory.empty()) {
      auto opened = DailyFile::open(options.directory, today());
      if (!opened) return opened.error();
      file.emplace(std::move(*opened));
    }
    {
      std::lock_guard lock(targets_mutex_);
      level_ = options.level;
      apply(std::move(*filter));
    }
    auto output = std::make_shared<Output>(options.json, std::move(file));
    std::unique_lock lock(writer_mutex_);
    json_ = options.json;
    state_ = State::running;
    writer_ = std::make_unique<LogWriter>(
        [output](std::string_view lines) { (*output)(lines); },
        [json = options.json](std::uint64_t dropped) { return drop_notice(json, dropped); });
    return {};
  }

  void stop() {
    std::unique_ptr<LogWriter> writer;
    {
      std::unique_lock lock(writer_mutex_);
      if (state_ == State::running) state_ = State::stopped;
      writer = std::move(writer_);
    }
  }

  Result<> set_filter(const std::string& directives) {
    std::lock_guard lock(targets_mutex_);
    auto filter = Filter::parse(directives, level_);
    if (!filter) return filter.error();
    apply(std::move(*filter));
    return {};
  }

  Target& target(std::string_view name) {
    std::lock_guard lock(targets_mutex_);
    const auto found = by_name_.find(name);
    if (found != by_name_.end()) return *found->second;
    Target& made = targets_.emplace_back(std::string(name));
    made.set_level(filter_.level_of(name));
    by_name_.emplace(name, &made);
    return made;
  }

  void write(const Event& event) {
    thread_local std::string line;
    line.clear();
    std::shared_lock lock(writer_mutex_);
    if (state_ == State::running) {
      append_line(json_, line, event);
      writer_->put(line);
    } else if (state_ == State::never_started && event.level >= Level::warn) {
      append_plain(line, event);
      line += '\n';
      std::fwrite(line.data(), 1, line.size(), stderr);
    }
    if (line.capacity() > kKeptLineBytes) std::string().swap(line);
  }

 private:
  enum class State : std::uint8_t { never_started, running, stopped };

  static constexpr std::size_t kKeptLineBytes = 16384;

  static void append_line(bool json, std::string& out, const Event& event) {
    if (json) {
      append_json(out, event);
    } else {
      append_plain(out, event);
    }
  }

  static std::string drop_notice(bool json, std::uint64_t dropped) {
    const Field fields[] = {{"dropped", dropped}};
    std::string line;
    append_line(json, line,
                {.time = system_clock::now(),
                 .level = Level::warn,
                 .target = "smg::log",
                 .message = "log lines were dropped: the output is too slow",
                 .fields = fields});
    return line;
  }

  void apply(Filter filter) {
    filter_ = std::move(filter);
    for (Target& target : targets_) target.set_level(filter_.level_of(target.name()));
  }

  std::mutex targets_mutex_;
  Level level_ = Level::info;
  Filter filter_{Level::info};
  std::deque<Target> targets_;
  StringMap<Target*> by_name_;

  std::shared_mutex writer_mutex_;  // held shared by write(), exclusively by start() and stop()
  State state_ = State::never_started;
  bool json_ = false;
  std::unique_ptr<LogWriter> writer_;
};

}  // namespace

Result<> start(const Options& options) { return Log::instance().start(options); }

void stop() { Log::instance().stop(); }

Result<> set_filter(const std::string& filter) { return Log::instance().set_filter(filter); }

Target& target(std::string_view name) { return Log::instance().target(name); }

void write(Target& target, Level level, std::string_view message,
           std::initializer_list<Field> fields) {
  if (!target.enabled(level)) return;
  Log::instance().write({.time = system_clock::now(),
                         .level = level,
                         .target = target.name(),
                         .message = message,
                         .fields = {fields.begin(), fields.size()}});
}

}  // namespace smg::log
