// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fluid/tcp_laws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tw::fluid {
namespace {

// RFC 8312, tables 1 (100 ms) and 2 (10 ms): loss, standard TCP's window, CUBIC's.
TEST(TcpLaws, WindowsAreThoseOfRfc8312) {
  struct Row {
    double loss, tcp, cubic_100ms, cubic_10ms;
  };
  const std::vector<Row> table{{1e-2, 12, 12, 12},          {1e-3, 38, 38, 38},
                               {1e-4, 120, 187, 120},       {1e-5, 379, 1054, 379},
                               {1e-6, 1200, 5926, 1200},    {1e-7, 3795, 33325, 5926},
                               {1e-8, 12000, 187400, 33325}};
  for (const Row& row : table) {
    EXPECT_NEAR(reno_window(row.loss) / row.tcp, 1, 0.03) << row.loss;
    EXPECT_NEAR(cubic_window(row.loss, 0.1) / row.cubic_100ms, 1, 0.03) << row.loss;
    EXPECT_NEAR(cubic_window(row.loss, 0.01) / row.cubic_10ms, 1, 0.03) << row.loss;
  }
}

// Measured on Linux over emulated links, in Mbit/s of segments of 1,448 bytes: the law meets them
// within a factor of 2, half of them within 1.4.
TEST(TcpLaws, RatesUnderLossAreNearThoseMeasured) {
  struct Point {
    Stack stack;
    double rtt_s, loss, mbps;
  };
  const std::vector<Point> points{{Stack::Cubic, 1e-3, 1e-3, 214}, {Stack::Cubic, 1e-3, 1e-2, 55},
                                  {Stack::Cubic, 1e-3, 2e-2, 15},  {Stack::Cubic, 1e-3, 0.1, 0.7},
                                  {Stack::Cubic, 1e-2, 1e-3, 39},  {Stack::Cubic, 1e-2, 1e-2, 10.6},
                                  {Stack::Cubic, 1e-2, 2e-2, 6.7}, {Stack::Cubic, 1e-2, 0.1, 0.5},
                                  {Stack::Reno, 1e-3, 1e-3, 279},  {Stack::Reno, 1e-3, 1e-2, 93},
                                  {Stack::Reno, 1e-3, 2e-2, 46},   {Stack::Reno, 1e-3, 0.1, 1.2},
                                  {Stack::Reno, 1e-2, 1e-3, 45},   {Stack::Reno, 1e-2, 1e-2, 13.1},
                                  {Stack::Reno, 1e-2, 2e-2, 7.0},  {Stack::Reno, 1e-2, 0.1, 1.3}};
  int near = 0;
  for (const Point& point : points) {
    const double mbps = 8 * 1448e-6 * loss_rate(point.stack, point.loss, point.rtt_s);
    const double off = std::abs(std::log(mbps / point.mbps));
    EXPECT_LT(off, std::log(2.0)) << point.mbps << " found " << mbps;
    near += off < std::log(1.4) ? 1 : 0;
  }
  EXPECT_GE(near, 8);
}

// By hand: 1 / (81.65 us + 0.81 x 200 ms x 0.1837 x 0.01 x 1.0032) = 2,630 segments a second.
TEST(TcpLaws, TheLawIsPadhyesWithLighterTimeouts) {
  EXPECT_NEAR(8 * 1448e-6 * loss_rate(Stack::Cubic, 1e-2, 1e-3), 30.47, 0.01);
  EXPECT_NEAR(8 * 1448e-6 * loss_rate(Stack::Reno, 1e-3, 1e-2), 44.2, 0.1);
}

TEST(TcpLaws, BbrMindsNoLossUpToAFifth) {
  EXPECT_TRUE(std::isinf(loss_rate(Stack::Bbr, 0.2, 0.1)));
  EXPECT_EQ(loss_rate(Stack::Bbr, 0.21, 0.1), 0);
  EXPECT_TRUE(std::isinf(loss_rate(Stack::Cubic, 0, 0.1)));
}

// 1,338 segments, idle for 400 ms, a timeout of 240 ms: halved once, as Linux shows.
TEST(TcpLaws, AnIdleWindowIsHalvedForEachTimeout) {
  EXPECT_DOUBLE_EQ(window_after_idle(1338, 0.4, 0.24), 669);
  EXPECT_DOUBLE_EQ(window_after_idle(1338, 0.24, 0.24), 1338);
  EXPECT_DOUBLE_EQ(window_after_idle(1338, 0.5, 0.24), 334.5);
  EXPECT_DOUBLE_EQ(window_after_idle(1338, 100, 0.24), 10);
  EXPECT_DOUBLE_EQ(window_after_idle(4, 100, 0.24), 4);
}

TEST(TcpLaws, StacksAreKnownByTheKernelsNames) {
  EXPECT_EQ(stack_of("reno"), Stack::Reno);
  EXPECT_EQ(stack_of("dctcp"), Stack::Reno);
  EXPECT_EQ(stack_of("bbr"), Stack::Bbr);
  EXPECT_EQ(stack_of("cubic"), Stack::Cubic);
  EXPECT_EQ(stack_of("htcp"), Stack::Cubic);
}

}  // namespace
}  // namespace tw::fluid
