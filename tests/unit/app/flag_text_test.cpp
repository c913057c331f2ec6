#include "smg/app/flag_text.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace smg::app {
namespace {

// The tests run somewhere below the build folder, which is in the source folder.
std::filesystem::path source_folder() {
  auto folder = std::filesystem::current_path();
  while (folder.has_relative_path() && !exists(folder / "CMakePresets.json")) {
    folder = folder.parent_path();
  }
  return folder;
}

TEST(FlagsPage, IsWhatTheTablesRender) {
  const auto page = source_folder() / "docs/flags.md";
  const std::string rendered = render_flags_markdown();
  if (std::getenv("SMG_WRITE_DOCS") != nullptr) std::ofstream(page) << rendered;
  std::ifstream file(page);
  const std::string written{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(written == rendered)
      << "docs/flags.md is out of date. Write it anew: SMG_WRITE_DOCS=1 unit_app_test "
         "--gtest_filter=FlagsPage.*";
}

}  // namespace
}  // namespace smg::app
