// SPDX-License-Identifier: Apache-2.0
#include "trainwire/result/whole_file.h"

#include "trainwire/base/error.h"
#include "trainwire/result/test_folder.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace tw::result {
namespace {

namespace fs = std::filesystem;

std::size_t files_in(const std::string& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(WriteWhole, ReplacesAFileAndLeavesNothingBeside) {
  const TestFolder test;
  write_whole(test / "x", "first");
  write_whole(test / "x", "second");
  EXPECT_EQ(content(test / "x"), "second");
  EXPECT_EQ(files_in(test / "."), 1u);
}

TEST(WriteWhole, WritesWhereALinkLeads) {
  const TestFolder test;
  write_whole(test / "x", "first");
  fs::create_symlink("x", test / "link");
  write_whole(test / "link", "second");
  EXPECT_TRUE(fs::is_symlink(test / "link"));
  EXPECT_EQ(content(test / "x"), "second");
}

TEST(WriteWhole, WritesToWhatIsNoFile) {
  write_whole("/dev/null", "x");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THAT([] { write_whole("/dev/full", "x"); },
              testing::ThrowsMessage<SystemError>(testing::HasSubstr("No space left")));
}

TEST(WriteWhole, SaysWhatCannotBeWritten) {
  const TestFolder test;
  EXPECT_THAT([&] { write_whole(test / "none/x", "x"); },
              testing::ThrowsMessage<SystemError>(testing::HasSubstr("none/x")));
}

}  // namespace
}  // namespace tw::result
