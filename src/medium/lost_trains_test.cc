// SPDX-License-Identifier: Apache-2.0
#include "trainwire/medium/lost_trains.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tw::medium {
namespace {

fluid::TcpPath path(double loss, double rtt_s) {
  return {.stack = fluid::Stack::Reno, .rtt_s = rtt_s, .line = 1e9 / 8, .loss = loss};
}

// With trains of T segments a loss comes every T / p of them, and the window is sqrt(3 T / 2p). At
// 10 ms a train is 0.12 of it, below two segments: two. At 1 ms it would be 1.2 of it: half, so T =
// 3 / 8p = 37.5 at 1 %.
TEST(LostTrains, AreAsLongAsWindowsAllow) {
  EXPECT_NEAR(mean_train(path(0.1, 10e-3), 44), 2, 0.01);
  EXPECT_NEAR(mean_train(path(0.01, 1e-3), 44), 37.5, 0.5);
  EXPECT_NEAR(mean_train(path(0.0001, 1e-3), 44), 44, 0.01) << "what the device takes";
  EXPECT_EQ(mean_train(path(0.01, 1e-3), 1), 1) << "no offloads";
}

}  // namespace
}  // namespace tw::medium
