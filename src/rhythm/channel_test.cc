// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/channel.h"

#include <gtest/gtest.h>

namespace tw::rhythm {
namespace {

constexpr std::int64_t kUs = 1'000;

/// `count` bursts of `bytes`, each `gap_us` after the one before; the first 50 ms after it.
void append_trains(Channel& channel, int count, std::uint64_t bytes, std::int64_t gap_us) {
  for (int i = 0; i < count; ++i) {
    const std::int64_t before = channel.bursts.empty() ? 0 : channel.bursts.back().end_ns;
    const std::int64_t start = before + (i == 0 ? 50'000 : gap_us) * kUs;
    channel.bursts.push_back({.start_ns = start, .end_ns = start, .bytes = bytes, .packets = 4});
    channel.bytes += bytes;
  }
}

Channel empty() { return {.from = 0, .to = 1, .flows = {}, .bursts = {}, .bytes = 0}; }

TEST(WithoutSpacing, JoinsWhatASlowLinkSpaces) {
  Channel slow = empty();
  for (int step = 0; step < 10; ++step) append_trains(slow, 100, 5'792, 620);
  const auto smooth = without_spacing(std::vector{slow});
  ASSERT_TRUE(smooth);
  ASSERT_EQ(smooth->front().bursts.size(), 10);
  EXPECT_EQ(smooth->front().bursts[3].bytes, 579'200);
  EXPECT_EQ(smooth->front().bytes, slow.bytes);
}

TEST(WithoutSpacing, LeavesLargeBurstsApart) {
  Channel fast = empty();
  for (int step = 0; step < 30; ++step) append_trains(fast, 6, 700'000, 2'000);
  EXPECT_FALSE(without_spacing(std::vector{fast}));
}

// Who waits for the rounds of others sends small pieces too: some at once, some after 40 ms.
TEST(WithoutSpacing, LeavesPiecesApartThatComeAtNoEvenRate) {
  Channel waiting = empty();
  for (int round = 0; round < 50; ++round) {
    append_trains(waiting, 1, 30'000, 0);
    append_trains(waiting, 2, 30'000, 3'000);
  }
  EXPECT_FALSE(without_spacing(std::vector{waiting}));
}

// 200 messages of 8 kB, 5 ms apart, are steps: nothing would be left of them.
TEST(WithoutSpacing, LeavesAChannelThatWouldBecomeOneBurst) {
  Channel small = empty();
  append_trains(small, 200, 8'000, 5'000);
  EXPECT_FALSE(without_spacing(std::vector{small}));
}

// Behind the slow link it never ends; a channel with the same bytes in few bursts shows what it is.
TEST(WithoutSpacing, JoinsAStreamThatNeverPausesWhenItsLikeHasFewBursts) {
  Channel slow = empty();
  append_trains(slow, 1000, 7'000, 700);
  Channel other = empty();
  append_trains(other, 10, 700'000, 70'000);
  const auto smooth = without_spacing(std::vector{slow, other});
  ASSERT_TRUE(smooth);
  EXPECT_EQ((*smooth)[0].bursts.size(), 1);
  EXPECT_EQ((*smooth)[1].bursts.size(), 10);
}

TEST(KnownDistances, AreFoundOnceForTheSameBursts) {
  Channel channel = empty();
  append_trains(channel, 10, 1000, 700);
  int found = 0;
  const auto find = [&] { return std::vector<double>{static_cast<double>(++found)}; };
  const Channel copy = channel;
  EXPECT_EQ(channel.distances->of(channel.bursts, find), copy.distances->of(copy.bursts, find));
  channel.bursts.pop_back();
  EXPECT_EQ(channel.distances->of(channel.bursts, find), std::vector<double>{2});
}

}  // namespace
}  // namespace tw::rhythm
