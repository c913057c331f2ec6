// A file a day: DIR/smg.YYYY-MM-DD, UTC, appended to. Not thread-safe.
//
// After open() nothing fails: when a write does not succeed (disk full) or the next day's file
// cannot be made, the rest of those lines is lost or goes to the old file, and the next write
// tries again.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "smg/base/error.hpp"

namespace smg::log {

class DailyFile {
 public:
  using Day = std::chrono::sys_days;

  // Makes the directory where it is missing and opens today's file. The error is a sentence.
  static Result<DailyFile> open(const std::string& directory, Day today);

  DailyFile(DailyFile&& other) noexcept;
  DailyFile& operator=(DailyFile&&) = delete;
  ~DailyFile();

  void write(std::string_view text, Day today);

 private:
  DailyFile(std::string directory, Day day, int fd);

  std::string directory_;
  Day day_;
  int fd_;
};

}  // namespace smg::log
