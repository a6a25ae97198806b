// SPDX-License-Identifier: Apache-2.0
#include "trainwire/netsim/receiver.h"

#include "trainwire/base/random.h"
#include "trainwire/netsim/test_wire.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <vector>

namespace tw::netsim {
namespace {

using namespace std::chrono_literals;

// 64 KiB while nobody reads; then as much again at once, and twice what was offered each round trip of 20 ms.
TEST(Receiver, OffersMoreEachRoundTripSinceItsProgramReads) {
  TcpOptions options;
  options.initial_window = 1000;
  Wire wire(options, 10_Gbit, 20ms, {});
  wire.sender.bound(65536, 65536, 0);
  wire.sender.write(50'000'000, 0);
  wire.advance(200 * kMillisecond);
  EXPECT_EQ(wire.sender.sent_bytes(), 65536);
  wire.sender.bound(kUnbounded, 65536, 200 * kMillisecond);
  EXPECT_EQ(wire.sender.sent_bytes(), 2 * 65536);
  wire.advance(210 * kMillisecond);
  EXPECT_EQ(wire.sender.sent_bytes(), 2 * 65536);
  wire.advance(230 * kMillisecond);
  EXPECT_EQ(wire.sender.sent_bytes(), 4 * 65536);
  wire.advance(1'000 * kMillisecond);
  EXPECT_EQ(wire.sender.sent_bytes(), 50'000'000);
}

struct Hears {
  explicit Hears(const TcpOptions& options = {})
      : receiver(options, 0, [this](const Packet& ack, Time) { acks.push_back(ack); }) {}

  void arrives(std::int64_t segment, Time now = 0, bool marked = false, bool continues = false) {
    receiver.arrived({.can_be_marked = true, .marked = marked, .segment = segment}, continues, now);
  }
  /// The first ones are answered one by one.
  void warm_up() {
    for (std::int64_t i = 0; i < 16; ++i) arrives(i);
    acks.clear();
  }

  std::vector<Packet> acks;
  Receiver receiver;
};

Range told(const Packet& ack, std::size_t i) {
  return {.begin = ack.segment + ack.sacks[i].begin, .end = ack.segment + ack.sacks[i].end};
}

TEST(Receiver, AnswersEverySecondSegmentAndALoneOneLater) {
  Hears hears;
  hears.warm_up();
  hears.arrives(16, 1000);
  EXPECT_TRUE(hears.acks.empty());
  EXPECT_EQ(hears.receiver.due(), 1000 + 40 * kMillisecond);
  hears.arrives(17, 2000);
  ASSERT_EQ(hears.acks.size(), 1U);
  EXPECT_EQ(hears.acks[0].segment, 18);
  EXPECT_EQ(hears.receiver.due(), kNever);
  hears.arrives(18, 3000);
  hears.receiver.woken(hears.receiver.due());
  ASSERT_EQ(hears.acks.size(), 2U);
  EXPECT_EQ(hears.acks[1].segment, 19);
}

TEST(Receiver, TellsTheThreeRangesThatChangedLast) {
  Hears hears;
  for (const std::int64_t segment : {0, 2, 4, 6, 8}) hears.arrives(segment);
  EXPECT_EQ(told(hears.acks.back(), 2), (Range{.begin = 4, .end = 5}));
  hears.arrives(5);
  const Packet& last = hears.acks.back();
  EXPECT_EQ(last.segment, 1);
  EXPECT_EQ(told(last, 0), (Range{.begin = 4, .end = 7}));
  EXPECT_EQ(told(last, 1), (Range{.begin = 8, .end = 9}));
  EXPECT_EQ(told(last, 2), (Range{.begin = 2, .end = 3}));
  EXPECT_EQ(last.frame_bytes, 66 + 4 + 3 * 8);
}

TEST(Receiver, TellsWhatCameTwice) {
  Hears hears;
  hears.arrives(0);
  hears.arrives(0);
  EXPECT_FALSE(hears.acks[0].duplicate);
  EXPECT_TRUE(hears.acks[1].duplicate);
  EXPECT_EQ(hears.acks[1].segment, 1);
}

TEST(Receiver, ATrainIsAnsweredOnce) {
  TcpOptions options;
  options.train_segments = 4;
  Hears hears(options);
  hears.warm_up();
  for (std::int64_t i = 16; i < 22; ++i) hears.arrives(i, 0, false, i != 21);
  ASSERT_EQ(hears.acks.size(), 2U);
  EXPECT_EQ(hears.acks[0].segment, 20);
  EXPECT_EQ(hears.acks[1].segment, 22);
}

TEST(Receiver, AMarkIsEchoedUntilTheWindowIsReduced) {
  Hears hears;
  hears.arrives(0, 0, true);
  hears.arrives(1);
  hears.receiver.arrived({.can_be_marked = true, .window_reduced = true, .segment = 2}, false, 0);
  EXPECT_TRUE(hears.acks[0].echoes_mark);
  EXPECT_TRUE(hears.acks[1].echoes_mark);
  EXPECT_FALSE(hears.acks[2].echoes_mark);
}

// RFC 8257: so the sender can tell how many were marked although every second one is answered.
TEST(Receiver, ForDctcpEachChangeOfMarksIsAnsweredAtOnce) {
  TcpOptions options;
  options.congestion_control = "dctcp";
  Hears hears(options);
  hears.warm_up();
  hears.arrives(16);
  hears.arrives(17, 0, true);
  ASSERT_EQ(hears.acks.size(), 1U);
  EXPECT_EQ(hears.acks[0].segment, 17);
  EXPECT_FALSE(hears.acks[0].echoes_mark);
  hears.arrives(18, 0, true);
  ASSERT_EQ(hears.acks.size(), 2U);
  EXPECT_EQ(hears.acks[1].segment, 19);
  EXPECT_TRUE(hears.acks[1].echoes_mark);
}

// Whatever the order: what is acknowledged as a whole is what has come without a gap, and ranges
// hold nothing that has not.
TEST(Receiver, TellsNothingButWhatCame) {
  Random random(1, "receiver");
  for (int round = 0; round < 200; ++round) {
    Hears hears;
    std::set<std::int64_t> came;
    for (int i = 0; i < 60; ++i) {
      const auto segment = static_cast<std::int64_t>(random.below(30));
      const bool is_new = came.insert(segment).second;
      hears.arrives(segment);
      std::int64_t whole = 0;
      while (came.contains(whole)) ++whole;
      ASSERT_EQ(hears.receiver.next(), whole);
      const Packet& ack = hears.acks.back();
      ASSERT_EQ(ack.duplicate, !is_new);
      for (std::size_t k = 0; k < ack.sacks.size() && ack.sacks[k].end > 0; ++k) {
        const Range range = told(ack, k);
        ASSERT_GT(range.begin, whole);
        for (std::int64_t s = range.begin; s < range.end; ++s) ASSERT_TRUE(came.contains(s));
        ASSERT_FALSE(came.contains(range.begin - 1) || came.contains(range.end));
      }
    }
  }
}

// Only what repeats itself, and a long pause, have the next ones answered each at once: a hole that
// is filled has one answer.
TEST(Receiver, ALoneSegmentWaitsEvenAfterAHole) {
  Hears hears;
  hears.warm_up();
  hears.arrives(17);
  hears.arrives(16);
  ASSERT_EQ(hears.acks.size(), 2U);
  hears.arrives(18, kMillisecond);
  EXPECT_EQ(hears.acks.size(), 2U);
  hears.arrives(19, 300 * kMillisecond);
  hears.arrives(20, 301 * kMillisecond);
  EXPECT_EQ(hears.acks.size(), 4U);
}

}  // namespace
}  // namespace tw::netsim
