// SPDX-License-Identifier: Apache-2.0
#include "trainwire/netsim/port.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace tw::netsim {
namespace {

using namespace std::chrono_literals;

Packet frame(int bytes = 1500) {
  return {.frame_bytes = static_cast<std::uint16_t>(bytes), .payload_bytes = bytes - 66};
}

TEST(Port, PacketsTakeTheLineOneAfterAnother) {
  Port port({.name = "line", .rate = 1_Gbit, .delay = 5us}, 1);
  const Time line = 12'000'000;  // 1,500 bytes
  EXPECT_EQ(port.arrive(frame(), 0), line);
  EXPECT_EQ(port.arrive(frame(), 0), 2 * line);
  EXPECT_EQ(port.waiting_bytes(line), 1500);
  EXPECT_EQ(port.next(), line + time_of(5us));
  port.take();
  EXPECT_EQ(port.next(), 2 * line + time_of(5us));
  EXPECT_EQ(port.arrive(frame(), 10 * line), 11 * line) << "a line that was free";
}

// Of a line that was free, up to a fifth of a packet's time; never of one that is busy.
TEST(Port, HesitatesWhereTheLineWasFree) {
  const Time line = 12'000'000;
  Port port({.name = "line", .rate = 1_Gbit, .hesitates = 0.2}, 1);
  Time earliest = kNever;
  Time latest = 0;
  for (Time now = 0; now < 400 * line; now += 4 * line) {
    const Time left = port.arrive(frame(), now) - now;
    earliest = std::min(earliest, left);
    latest = std::max(latest, left);
    EXPECT_EQ(port.arrive(frame(), now) - now, left + line);
  }
  EXPECT_GE(earliest, line);
  EXPECT_LT(earliest, line + line / 50);
  EXPECT_GT(latest, line + line / 6);
  EXPECT_LE(latest, line + line / 5);
}

TEST(Port, DropsWhatItsQueueDoesNotHold) {
  Port port({.name = "line", .rate = 1_Gbit, .queue_bytes = 4500}, 1);
  for (int i = 0; i < 3; ++i) EXPECT_NE(port.arrive(frame(), 0), kNever);
  EXPECT_EQ(port.arrive(frame(), 0), kNever);
  EXPECT_NE(port.arrive(frame(), 12'000'000), kNever) << "one has left";
  EXPECT_EQ(port.counts().dropped, 1);
  EXPECT_EQ(port.counts().packets, 4);
}

TEST(Port, MarksFromADepthOn) {
  Port port({.name = "line", .rate = 1_Gbit, .marking = Marking{.from = 3000, .all = 3000}}, 1);
  Packet packet = frame();
  packet.can_be_marked = true;
  for (int i = 0; i < 4; ++i) port.arrive(packet, 0);
  port.arrive(frame(), 0);
  std::vector<bool> marked;
  while (!port.empty()) marked.push_back(port.take().marked);
  EXPECT_EQ(marked, (std::vector<bool>{false, false, true, true, false}));
}

TEST(Port, MarksAShareBetweenTwoDepths) {
  const Marking marking{.from = 1000, .all = 3000, .most = 0.5};
  Port port({.name = "line", .rate = 1_Gbit, .marking = marking}, 1);
  Packet packet = frame(2000);
  packet.can_be_marked = true;
  const int rounds = 4000;
  for (int i = 0; i < rounds; ++i) {
    const Time now = i * kMillisecond;
    port.arrive(frame(2000), now);  // the next one finds 2,000 bytes: a quarter
    port.arrive(packet, now);
  }
  EXPECT_NEAR(static_cast<double>(port.counts().marked) / rounds, 0.25, 0.03);
}

// RED without marks: whoever finds the mean depth above the bound is dropped, markable or not.
TEST(Port, DropsEarlyWhereItDoesNotMark) {
  const Marking early{.from = 3000, .all = 3000, .drops = true};
  Port port({.name = "line", .rate = 1_Gbit, .queue_bytes = 1e6, .marking = early}, 1);
  for (int i = 0; i < 5; ++i) port.arrive(frame(), 0);
  EXPECT_EQ(port.counts().dropped, 3);
  EXPECT_EQ(port.counts().marked, 0);
}

// With a weight of a tenth the mean is 0.1 * 1500, 0.1 * 3000 + 0.9 * 150, ...: 150, 435, 841, 1357,
// 1971; a burst that the depth itself would have had marked passes.
TEST(Port, JudgesAMeanDepthWhereAsked) {
  const Marking mean{.from = 1500, .all = 1500, .newest = 0.1};
  Port port({.name = "line", .rate = 1_Gbit, .marking = mean}, 1);
  Packet packet = frame();
  packet.can_be_marked = true;
  for (int i = 0; i < 6; ++i) port.arrive(packet, 0);
  EXPECT_EQ(port.counts().marked, 1);
}

// 1971 fall by a tenth for each 500 bytes that a line could have carried since it was idle.
TEST(Port, AMeanDepthFallsWhileTheLineIsIdle) {
  MeanDepth depth;
  for (int i = 1; i <= 5; ++i) depth.find(1500.0 * i, 0.1, 0);
  EXPECT_NEAR(depth.find(0, 0.1, 0), 0.9 * 1971.4, 0.2);
  EXPECT_NEAR(depth.find(0, 0.1, 9), std::pow(0.9, 11) * 1971.4, 0.2);
  EXPECT_EQ(depth.find(700, 1, 0), 700);
}

TEST(Port, ATrainIsLostAsAWhole) {
  PortSettings settings{.name = "line", .rate = 1_Gbit, .loss = 0.3, .loses_trains = true};
  Port port(settings, 1);
  const std::uint32_t trains = 2000;
  for (std::uint32_t train = 0; train < trains; ++train) {
    const std::int64_t before = port.counts().lost;
    for (int i = 0; i < 8; ++i) {
      Packet packet = frame();
      packet.train = train;
      port.arrive(packet, 0);
    }
    const std::int64_t lost = port.counts().lost - before;
    ASSERT_TRUE(lost == 0 || lost == 8) << lost;
  }
  EXPECT_NEAR(static_cast<double>(port.counts().lost) / (8.0 * trains), 0.3, 0.03);
}

std::vector<bool> continuing(BitRate rate) {
  Port port({.name = "line", .rate = rate}, 1);
  for (int i = 0; i < 4; ++i) {
    Packet packet = frame();
    packet.segment = i;
    packet.train = i < 2 ? 1 : 2;
    port.arrive(packet, 0);
  }
  std::vector<bool> continues;
  while (!port.empty()) {
    const Time now = port.next();
    continues.push_back(port.continues(port.take(), now));
  }
  return continues;
}

TEST(Port, SegmentsContinueUntilTheirTrainEndsOrOnAFastLine) {
  EXPECT_EQ(continuing(500_Mbit), (std::vector<bool>{true, false, true, false}));
  EXPECT_EQ(continuing(10_Gbit), (std::vector<bool>{true, true, true, false}));
}

TEST(Port, JitterDoesNotOvertake) {
  Port port({.name = "line", .rate = 10_Gbit, .delay = 1ms, .jitter = 500us}, 1);
  Time last = 0;
  Time most = 0;
  for (int i = 0; i < 1000; ++i) {
    const Time now = i * time_of(20us);
    const Time left = port.arrive(frame(), now);
    most = std::max(most, port.next() - left);
    ASSERT_GE(port.next(), last);
    last = port.next();
    port.take();
  }
  EXPECT_GT(most, time_of(1ms));
}

TEST(Port, ALineWithoutARateCarriesNothing) {
  PortSettings settings{.name = "line", .rate = 1_Gbit};
  Port port(settings, 1);
  settings.rate = BitRate(0);
  port.alter(settings);
  EXPECT_EQ(port.arrive(frame(), 0), kNever);
}

}  // namespace
}  // namespace tw::netsim
