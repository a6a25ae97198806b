// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/quality.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tw::diagnose {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

gather::FileSummary file() {
  gather::FileSummary summary{};
  summary.path = "a.pcap";
  summary.packets = 1000;
  summary.clock_known = true;
  return summary;
}

gather::Captured of(const gather::FileSummary& summary) {
  gather::Captured traffic{};
  traffic.files.push_back(summary);
  traffic.totals.packets = 1000;
  return traffic;
}

TEST(QualityOf, ACleanCaptureIsGood) {
  const Quality quality = quality_of(of(file()), {});
  EXPECT_EQ(quality.level, Level::Good);
  EXPECT_TRUE(quality.reasons.empty());
}

TEST(QualityOf, DropsMakeItFairAndManyMakeItPoor) {
  gather::FileSummary summary = file();
  summary.dropped = 5;
  EXPECT_EQ(quality_of(of(summary), {}).level, Level::Fair);
  summary.dropped = 200;
  const Quality quality = quality_of(of(summary), {});
  EXPECT_EQ(quality.level, Level::Poor);
  // 200 of 1,200.
  EXPECT_THAT(quality.reasons, Contains(HasSubstr("dropped 200 packets (16.67 %)")));
}

TEST(QualityOf, SaysWhereAFileIsDamaged) {
  gather::FileSummary summary = file();
  summary.damage = capture::Damage{.offset = 4711, .text = "the packet is cut off"};
  EXPECT_THAT(quality_of(of(summary), {}).reasons, Contains(HasSubstr("damaged at byte 4711")));
}

TEST(QualityOf, DoubtsAnUnknownClock) {
  gather::FileSummary summary = file();
  summary.clock_known = false;
  EXPECT_THAT(quality_of(of(summary), {}).reasons, Contains(HasSubstr("clock")));
}

TEST(QualityOf, DoubtsFewIterations) {
  Iterations iterations;
  iterations.steps.resize(4);
  const Quality quality = quality_of(of(file()), iterations);
  EXPECT_EQ(quality.level, Level::Fair);
  EXPECT_THAT(quality.reasons, Contains(HasSubstr("only 4 iterations")));
}

}  // namespace
}  // namespace tw::diagnose
