#include "smg/base/log.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace smg::log {
namespace {

class Logging : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "smg_log_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override {
    stop();
    std::filesystem::remove_all(root_);
  }

  // What one run with `options` writes to standard output and to its file.
  template <class Body>
  void run(Options options, Body body) {
    options.directory = root_.string();
    testing::internal::CaptureStdout();
    const auto started = start(options);
    ASSERT_TRUE(started) << started.error().detail;
    body();
    stop();
    output_ = testing::internal::GetCapturedStdout();
    for (const auto& entry : std::filesystem::directory_iterator(root_)) {
      std::ifstream in(entry.path());
      file_.assign(std::istreambuf_iterator<char>(in), {});
    }
  }

  // A line without its time, which differs from run to run.
  static std::string untimed(const std::string& line) { return line.substr(19); }

  std::filesystem::path root_;
  std::string output_;
  std::string file_;
};

TEST_F(Logging, PlainLinesGoToStandardOutputAndTheFile) {
  run({}, [] { write(target("smg::test"), Level::info, "hello", {{"key", std::int64_t{1}}}); });
  EXPECT_EQ(untimed(output_), "  INFO smg::test: hello key=1\n");
  EXPECT_EQ(file_, output_);
}

TEST_F(Logging, JsonLinesGoToStandardOutputAndTheFile) {
  run({.json = true}, [] { write(target("smg::test"), Level::error, "hello"); });
  EXPECT_EQ(output_.substr(39), R"(,"level":"ERROR","target":"smg::test","message":"hello"})"
                                "\n");
  EXPECT_EQ(file_, output_);
}

TEST_F(Logging, EventsBelowTheLevelOfTheirTargetAreLeftOut) {
  run({.level = Level::warn, .filter = "smg::loud=debug"}, [] {
    write(target("smg::quiet"), Level::info, "no");
    write(target("smg::quiet"), Level::warn, "yes");
    write(target("smg::loud"), Level::debug, "yes");
    write(target("smg::loud"), Level::trace, "no");
  });
  EXPECT_EQ(output_.find("no"), std::string::npos) << output_;
  EXPECT_NE(output_.find("smg::quiet: yes"), std::string::npos) << output_;
  EXPECT_NE(output_.find("smg::loud: yes"), std::string::npos) << output_;
}

TEST_F(Logging, ANewFilterAppliesToTargetsThatExist) {
  Target& a = target("smg::a");
  run({.level = Level::warn}, [&] {
    EXPECT_FALSE(a.enabled(Level::info));
    ASSERT_TRUE(set_filter("smg::a=debug"));
    EXPECT_TRUE(a.enabled(Level::debug));
    EXPECT_FALSE(set_filter("smg::a=loud"));
    EXPECT_TRUE(a.enabled(Level::debug));
    ASSERT_TRUE(set_filter(""));
    EXPECT_FALSE(a.enabled(Level::info));
    EXPECT_TRUE(a.enabled(Level::warn));
  });
}

TEST_F(Logging, ATargetIsMadeOnce) { EXPECT_EQ(&target("smg::same"), &target("smg::same")); }

TEST_F(Logging, AMalformedFilterKeepsItFromStarting) {
  const auto started = start({.filter = "info,what"});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().detail,
            "the log filter's part \"what\" is neither a level nor target=level");
}

TEST_F(Logging, AnUnusableDirectoryKeepsItFromStarting) {
  std::ofstream(root_ / "file") << "x";
  EXPECT_FALSE(start({.directory = (root_ / "file").string()}));
}

TEST_F(Logging, LinesAfterTheEndAreDropped) {
  run({}, [] {});
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  write(target("smg::test"), Level::error, "late");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace smg::log
