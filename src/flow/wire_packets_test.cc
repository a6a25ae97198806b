// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/wire_packets.h"

#include "trainwire/flow/test_ladders.h"

namespace tw::flow {
namespace {

TEST(WirePackets, TakesTheSegmentSizeFromTheSyns) {
  // The smaller of 1460 and 8960, less 12 for timestamps: 1448. 14,480 bytes are ten frames.
  at_every_isn(R"(
      0.0  a > b  S  mss 1460 ts 1 0
      0.1  b > a  S  ack 1 mss 8960 ts 1 1
      0.2  a > b  1:14481  ts 2 1)",
               [](const Followed& followed) {
                 EXPECT_EQ(followed.flow('a', 'b').estimated_wire_packets, 1u + 10u);
                 EXPECT_EQ(followed.flow('b', 'a').estimated_wire_packets, 1u);
               });
}

TEST(WirePackets, LeavesOrdinaryPacketsAlone) {
  at_every_isn("0 a > b 1:1449\n0.1 a > b 1449:1500", [](const Followed& followed) {
    EXPECT_EQ(followed.flow('a', 'b').estimated_wire_packets, 2u);
  });
}

TEST(WirePackets, TakesJumboFramesForWhatTheyAre) {
  // Without SYNs: 8,948 bytes again and again fit a jumbo frame and are no multiple of 1,448.
  at_every_isn("0 a > b 1:8949\n0.1 a > b 8949:17897\n0.2 a > b 17897:20001",
               [](const Followed& followed) {
                 // The last, of 2,104 bytes, is large too; (2 * 8948 + 2104) / 8948 rounds up to 3.
                 EXPECT_EQ(followed.flow('a', 'b').estimated_wire_packets, 3u);
               });
}

TEST(WirePackets, TakesSuperFramesApart) {
  // 2,896 and 28,960 bytes are 2 and 20 segments of 1,448.
  at_every_isn("0 a > b 1:2897\n0.1 a > b 2897:31857", [](const Followed& followed) {
    EXPECT_EQ(followed.flow('a', 'b').estimated_wire_packets, 22u);
    EXPECT_EQ(followed.flow('a', 'b').super_frames, 1u);
  });
}

}  // namespace
}  // namespace tw::flow
