// SPDX-License-Identifier: Apache-2.0
#include "trainwire/result/input_file.h"

#include "trainwire/base/error.h"
#include "trainwire/result/test_folder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

namespace tw::result {
namespace {

TEST(InputFile, HashOfAnEmptyFileIsThatOfItsSize) {
  // FNV-1a of eight zero bytes: each multiplies by the prime, so the offset basis times prime^8.
  std::uint64_t expected = 0xcbf29ce484222325;
  for (int i = 0; i < 8; ++i) expected *= 0x100000001b3;
  const TestFolder folder;
  const InputFile file = describe_input(folder.file("empty", ""));
  EXPECT_EQ(file.bytes, 0);
  EXPECT_EQ(std::stoull(file.hash, nullptr, 16), expected);
}

TEST(InputFile, AnyByteOfASmallFileCounts) {
  const TestFolder folder;
  std::string text(2'000'000, 'x');
  const std::string before = describe_input(folder.file("a", text)).hash;
  for (const std::size_t place : {0ul, 999'999ul, 1'048'575ul, 1'048'576ul, 1'999'999ul}) {
    std::string changed = text;
    changed[place] = 'y';
    EXPECT_NE(describe_input(folder.file("b", changed)).hash, before) << place;
  }
}

TEST(InputFile, BothEndsAndTheSizeOfALargeFileCount) {
  const TestFolder folder;
  std::string text(9'000'000, 'x');
  const std::string before = describe_input(folder.file("a", text)).hash;
  EXPECT_EQ(describe_input(folder.file("same", text)).hash, before);
  text.back() = 'y';
  EXPECT_NE(describe_input(folder.file("b", text)).hash, before);
  text.back() = 'x';
  EXPECT_NE(describe_input(folder.file("c", text + "x")).hash, before);
}

TEST(InputFile, PipesAreNamedOnly) {
  const TestFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(describe_input(pipe), InputFile{.path = pipe});
  EXPECT_EQ(describe_input("-"), InputFile{.path = "-"});
}

TEST(InputFile, AMissingFileIsAnEnvironmentError) {
  EXPECT_THROW(describe_input("/nonexistent/a.pcap"), SystemError);
}

}  // namespace
}  // namespace tw::result
