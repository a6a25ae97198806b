// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fabric/line.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tw::fabric {
namespace {

// At 1 Gbit/s a byte takes 8 ns.
TEST(Line, SendsOneAfterAnother) {
  Line line(1_Gbit);
  EXPECT_DOUBLE_EQ(line.send(1000, 1500), 1000 + 12'000);
  EXPECT_DOUBLE_EQ(line.send(2000, 1500), 1000 + 24'000);
  // 24,000 ns of work begun at 1000: at 9000 16,000 ns are left.
  EXPECT_DOUBLE_EQ(line.backlog_bytes(9000), 2000);
}

TEST(Line, StandsIdleAndStartsAnew) {
  Line line(1_Gbit);
  line.send(0, 1500);
  EXPECT_DOUBLE_EQ(line.backlog_bytes(50'000), 0);
  EXPECT_DOUBLE_EQ(line.send(50'000, 100), 50'800);
}

// 10,000 frames of 1514 bytes at 100 Gbit/s: 121.12 ns each.
TEST(Line, KeepsFractionsOfNanoseconds) {
  Line line(100_Gbit);
  double left = 0;
  for (int i = 0; i < 10'000; ++i) left = line.send(0, 1514);
  EXPECT_NEAR(left, 1'211'200, 1e-3);
}

TEST(Line, ForgetsWhatWouldWaitTooLong) {
  Line line(1_Gbit);
  line.send(0, 100'000);
  line.forget_beyond(0, 1000);
  EXPECT_DOUBLE_EQ(line.backlog_bytes(0), 1000);
  line.forget_beyond(0, 5000);
  EXPECT_DOUBLE_EQ(line.backlog_bytes(0), 1000);
}

TEST(Line, RefusesToHaveNoRate) { EXPECT_THROW(Line(BitRate(0)), std::logic_error); }

}  // namespace
}  // namespace tw::fabric
