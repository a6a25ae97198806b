// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/stranger.h"

#include <gmock/gmock.h>

#include <string_view>

namespace tw::capture {
namespace {

using namespace std::string_view_literals;
using testing::AllOf;
using testing::HasSubstr;

std::string describe(std::string_view content) {
  return stranger_description(std::as_bytes(std::span(content)));
}

TEST(StrangerDescription, KnowsOtherCaptureFormats) {
  EXPECT_THAT(describe("snoop\0\0\0\0\0\0\2"sv), AllOf(HasSubstr("snoop"), HasSubstr("editcap")));
  EXPECT_THAT(describe("GMBU\0\0"sv), HasSubstr("Network Monitor 2"));
  EXPECT_THAT(describe("RTSS\0\0"sv), HasSubstr("Network Monitor 1"));
}

TEST(StrangerDescription, SaysHowToUnpack) {
  EXPECT_THAT(describe("\xfd"
                       "7zXZ\0\0"sv),
              HasSubstr("xz -dk FILE"));
  EXPECT_THAT(describe("BZh91AY"sv), HasSubstr("bzip2 -dk"));
  EXPECT_THAT(describe("\x04\x22\x4d\x18"sv), HasSubstr("lz4 -dk"));
}

TEST(StrangerDescription, NamesOtherTextAndArchives) {
  EXPECT_THAT(describe("\xff\xfes\0t\0"sv), HasSubstr("iconv -f UTF-16"));
  std::string archive(512, '\0');
  archive.replace(0, 4, "a.et");
  archive.replace(257, 5, "ustar");
  EXPECT_THAT(describe(archive), HasSubstr("tar -xf FILE"));
}

TEST(StrangerDescription, QuotesText) {
  EXPECT_THAT(describe("rank,step,start\n0,1,2\n"sv),
              HasSubstr("text (it begins \"rank,step,start\")"));
  EXPECT_THAT(describe("caf\xc3\xa9\n"sv), HasSubstr("caf??"));
}

TEST(StrangerDescription, ShowsTheFirstBytesOfTheUnknown) {
  EXPECT_THAT(describe("\x01\x02\xff\x00\x05"sv), HasSubstr("01 02 ff 00"));
}

TEST(StrangerDescription, TellsTheShortFromTheEmpty) {
  EXPECT_THAT(describe(""sv), HasSubstr("empty"));
  EXPECT_THAT(describe("\xd4\xc3\xb2"sv), HasSubstr("only 3 bytes"));
}

}  // namespace
}  // namespace tw::capture
