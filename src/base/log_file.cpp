#include "smg/base/log_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace smg::log {
namespace {

int open_day(const std::string& directory, DailyFile::Day day) {
  const std::chrono::year_month_day date{day};
  char name[32];
  std::snprintf(name, sizeof name, "/smg.%04d-%02u-%02u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return ::open((directory + name).c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
}

Error unusable(const std::string& directory, const std::error_code& why) {
  return Error{
      .code = Errc::invalid_argument,
      .detail = "cannot write logs to the directory \"" + directory + "\": " + why.message()};
}

}  // namespace

Result<DailyFile> DailyFile::open(const std::string& directory, Day today) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return unusable(directory, error);
  const int fd = open_day(directory, today);
  if (fd < 0) return unusable(directory, {errno, std::generic_category()});
  return DailyFile(directory, today, fd);
}

DailyFile::DailyFile(std::string directory, Day day, int fd)
    : directory_(std::move(directory)), day_(day), fd_(fd) {}

DailyFile::DailyFile(DailyFile&& other) noexcept
    : directory_(std::move(other.directory_)),
      day_(other.day_),
      fd_(std::exchange(other.fd_, -1)) {}

DailyFile::~DailyFile() {
  if (fd_ >= 0) ::close(fd_);
}

void DailyFile::write(std::string_view text, Day today) {
  if (today != day_) {
    const int fd = open_day(directory_, today);
    if (fd >= 0) {
      ::close(std::exchange(fd_, fd));
      day_ = today;
    }
  }
  while (!text.empty()) {
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0 || errno != EINTR) {
      return;
    }
  }
}

}  // namespace smg::log
