// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/upload.h"

#include "trainwire/result/test_folder.h"
#include "trainwire/serve/refusal.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace tw::serve {
namespace {

namespace fs = std::filesystem;
using result::TestFolder;
using testing::HasSubstr;

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(Upload, IsHiddenUntilItIsKept) {
  const TestFolder folder;
  Upload upload(folder / "", 10_B);
  upload.write(bytes("abc"));
  upload.write(bytes("de"));
  for (const auto& entry : fs::directory_iterator(folder / "")) {
    EXPECT_THAT(entry.path().filename().string(), testing::StartsWith("."));
  }
  EXPECT_EQ(upload.keep_as("job.pcap"), "job.pcap");
  EXPECT_EQ(result::content(folder / "job.pcap"), "abcde");
  EXPECT_EQ(upload.size(), 5_B);
}

TEST(Upload, OverwritesNothing) {
  const TestFolder folder;
  folder.file("job.pcap", "mine");
  fs::create_symlink("nowhere", folder / "job-2.pcap");
  Upload upload(folder / "", 10_B);
  upload.write(bytes("abc"));
  EXPECT_EQ(upload.keep_as("job.pcap"), "job-3.pcap");
  EXPECT_EQ(result::content(folder / "job.pcap"), "mine");
  EXPECT_FALSE(fs::exists(folder / "nowhere"));
}

TEST(Upload, LeavesNothingWhenItIsNotKept) {
  const TestFolder folder;
  {
    Upload upload(folder / "", 10_B);
    upload.write(bytes("abc"));
  }
  EXPECT_TRUE(fs::is_empty(folder / ""));
}

TEST(Upload, StopsAtTheLimit) {
  const TestFolder folder;
  Upload upload(folder / "", 4_B);
  upload.write(bytes("abcd"));
  try {
    upload.write(bytes("e"));
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status(), 413);
    EXPECT_THAT(refusal.what(), HasSubstr("--upload-limit"));
  }
}

TEST(Upload, SaysThatItCannotBeStored) {
  try {
    const Upload upload("/proc/self", 4_B);
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status(), 507);
    EXPECT_THAT(refusal.what(), HasSubstr("storing the capture in /proc/self"));
  }
}

TEST(AbandonedUploads, AreRemovedUnlessSomebodyWritesThem) {
  const TestFolder folder;
  folder.file(".trainwire-upload-abcdef", "of a server that was killed");
  folder.file(".trainwire", "of somebody else");
  Upload upload(folder / "", 10_B);
  remove_abandoned_uploads(folder / "");
  EXPECT_FALSE(fs::exists(folder / ".trainwire-upload-abcdef"));
  EXPECT_TRUE(fs::exists(folder / ".trainwire"));
  EXPECT_EQ(upload.keep_as("job.pcap"), "job.pcap");
}

TEST(Numbered, PutsTheNumberBeforeTheEnding) {
  EXPECT_EQ(numbered("job.pcap.gz", 1), "job.pcap.gz");
  EXPECT_EQ(numbered("job.pcap.gz", 2), "job-2.pcap.gz");
}

}  // namespace
}  // namespace tw::serve
