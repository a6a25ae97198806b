// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rdma/pauses.h"

#include <gtest/gtest.h>

#include <chrono>

namespace tw::rdma {
namespace {

using namespace std::chrono_literals;

TEST(Pauses, TellAPortOnceAndHaveRoomForWhatIsOnItsWay) {
  // 25,000 bytes in a round trip of 2 us at 100 Gbit/s.
  const PauseRule rule = pause_rule(10'000, 100_Gbit, 1us, 1000);
  EXPECT_NEAR(rule.headroom_bytes, 27'000, 1e-6);
  Pauses pauses({{}, rule});
  EXPECT_FALSE(pauses.counts(-1));
  EXPECT_FALSE(pauses.counts(0));
  EXPECT_TRUE(pauses.counts(1));
  EXPECT_EQ(pauses.hold(1, 10'000), std::nullopt);
  EXPECT_EQ(pauses.hold(1, 1000), true);
  EXPECT_EQ(pauses.hold(1, 1000), std::nullopt);
  EXPECT_TRUE(pauses.admits(1, 25'000));
  EXPECT_FALSE(pauses.admits(1, 25'001));
  EXPECT_EQ(pauses.release(1, 3000), std::nullopt);
  EXPECT_EQ(pauses.release(1, 1000), false);
  EXPECT_EQ(pauses.release(1, 1000), std::nullopt);
}

}  // namespace
}  // namespace tw::rdma
