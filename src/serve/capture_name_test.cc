// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/capture_name.h"

#include <gmock/gmock.h>

namespace tw::serve {
namespace {

TEST(CaptureName, KeepsAnOrdinaryName) {
  EXPECT_EQ(capture_name("job-3_a.pcapng.zst"), "job-3_a.pcapng.zst");
}

TEST(CaptureName, TakesTheLastPartOfAPath) {
  EXPECT_EQ(capture_name("../../etc/job.pcap"), "job.pcap");
  EXPECT_EQ(capture_name("C:\\captures\\job.pcap"), "job.pcap");
  EXPECT_EQ(capture_name("a/.."), "capture.pcap");
  EXPECT_EQ(capture_name("/"), "capture.pcap");
  EXPECT_EQ(capture_name(""), "capture.pcap");
}

TEST(CaptureName, NeverBeginsWithADot) {
  EXPECT_EQ(capture_name(".bashrc"), "bashrc.pcap");
  EXPECT_EQ(capture_name("...pcap"), "pcap.pcap");
}

TEST(CaptureName, ReplacesWhatIsNotPlain) {
  EXPECT_EQ(capture_name("a b;$(rm).pcap"), "a_b___rm_.pcap");
  EXPECT_EQ(capture_name(std::string_view("a\0b\n.pcap", 9)), "a_b_.pcap");
  // Two bytes of UTF-8.
  EXPECT_EQ(capture_name("ü.pcap"), "__.pcap");
}

TEST(CaptureName, EndsLikeACapture) {
  // A file of these names would be taken for a run, or be opened by a browser.
  EXPECT_EQ(capture_name("run.json"), "run.json.pcap");
  EXPECT_EQ(capture_name("page.html"), "page.html.pcap");
  EXPECT_EQ(capture_name("job.run"), "job.run.pcap");
}

TEST(CaptureName, IsNotTooLongForAFileSystem) {
  // What is inside is told by content: the ending may go.
  EXPECT_EQ(capture_name(std::string(5000, 'a') + ".pcap.gz"), std::string(115, 'a') + ".pcap");
  EXPECT_EQ(capture_name(std::string(116, 'a')), std::string(115, 'a') + ".pcap");
  EXPECT_EQ(capture_name(std::string(115, 'a')), std::string(115, 'a') + ".pcap");
}

TEST(CaptureStem, HasNoEnding) {
  EXPECT_EQ(stem_of("job.pcapng.zst"), "job");
  EXPECT_EQ(stem_of("job.v2.pcap"), "job.v2");
}

}  // namespace
}  // namespace tw::serve
