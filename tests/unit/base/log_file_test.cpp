#include "smg/base/log_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace smg::log {
namespace {

using std::chrono::days;
using std::chrono::year;

constexpr DailyFile::Day kDay = std::chrono::sys_days{year{2026} / 12 / 31};

class LogFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "smg_log_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  static std::string content(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::filesystem::path root_;
};

TEST_F(LogFile, MissingDirectoriesAreMade) {
  const auto directory = root_ / "a" / "b";
  auto file = DailyFile::open(directory.string(), kDay);
  ASSERT_TRUE(file) << file.error().detail;
  file->write("one\n", kDay);
  EXPECT_EQ(content(directory / "smg.2026-12-31"), "one\n");
}

TEST_F(LogFile, AnExistingFileIsAppendedTo) {
  std::ofstream(root_ / "smg.2026-12-31") << "before\n";
  auto file = DailyFile::open(root_.string(), kDay);
  ASSERT_TRUE(file);
  file->write("after\n", kDay);
  EXPECT_EQ(content(root_ / "smg.2026-12-31"), "before\nafter\n");
}

TEST_F(LogFile, ANewDayGetsAFileOfItsOwn) {
  auto file = DailyFile::open(root_.string(), kDay);
  ASSERT_TRUE(file);
  file->write("old\n", kDay);
  file->write("new\n", kDay + days{1});
  EXPECT_EQ(content(root_ / "smg.2026-12-31"), "old\n");
  EXPECT_EQ(content(root_ / "smg.2027-01-01"), "new\n");
}

TEST_F(LogFile, LinesGoToTheOldFileWhileTheNextCannotBeMade) {
  auto file = DailyFile::open(root_.string(), kDay);
  ASSERT_TRUE(file);
  std::filesystem::create_directory(root_ / "smg.2027-01-01");
  file->write("one\n", kDay + days{1});
  EXPECT_EQ(content(root_ / "smg.2026-12-31"), "one\n");
  std::filesystem::remove(root_ / "smg.2027-01-01");
  file->write("two\n", kDay + days{1});
  EXPECT_EQ(content(root_ / "smg.2027-01-01"), "two\n");
}

TEST_F(LogFile, AFailingWriteIsIgnored) {
  std::filesystem::create_symlink("/dev/full", root_ / "smg.2026-12-31");
  auto file = DailyFile::open(root_.string(), kDay);
  ASSERT_TRUE(file);
  file->write("lost\n", kDay);
  file->write("kept\n", kDay + days{1});
  EXPECT_EQ(content(root_ / "smg.2027-01-01"), "kept\n");
}

TEST_F(LogFile, AnUnusableDirectoryIsNamed) {
  std::ofstream(root_ / "file") << "x";
  const std::string directory = (root_ / "file" / "logs").string();
  const auto file = DailyFile::open(directory, kDay);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().detail,
            "cannot write logs to the directory \"" + directory + "\": Not a directory");
}

}  // namespace
}  // namespace smg::log
