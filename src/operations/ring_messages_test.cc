// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/ring_messages.h"

#include <gmock/gmock.h>

namespace tw::operations {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

Operation ring(const std::string& op, std::int64_t bytes, const std::string& protocol = "simple") {
  return {.group_size = 4,
          .op = op,
          .bytes = bytes,
          .dtype = "float",
          .algorithm = "ring",
          .protocol = protocol,
          .channels = 1};
}

// 16 MiB of four ranks and one channel: two loops of four chunks of 2 MiB, each in two slices, each passed on six times.
TEST(RingMessages, AnAllReducePassesEveryChunkRoundTwice) {
  const auto found = ring_messages(ring("all_reduce", 16 * kMiB));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, 2 * 4 * 2 * 6);
  EXPECT_EQ(found->bytes, 6 * 16 * kMiB);
  EXPECT_EQ(found->on_the_wire(), 6 * 16 * kMiB + 4 * 96);
}

// Four elements are one aligned chunk: the other three ranks pass on empty slices, whose sizes are sent as well.
TEST(RingMessages, EmptySlicesAreMessagesToo) {
  const auto found = ring_messages(ring("all_reduce", 16));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, 4 * 2 * 6);
  EXPECT_EQ(found->bytes, 6 * 16);
}

// A rank's part of 3 MiB is two chunks, of 2 and 1 MiB, of two slices each, passed on three times for each of four ranks.
TEST(RingMessages, AllGatherAndReduceScatterPassEachRanksPartOn) {
  for (const char* op : {"all_gather", "reduce_scatter"}) {
    const auto found = ring_messages(ring(op, 12 * kMiB));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->count, 2 * 2 * 3 * 4);
    EXPECT_EQ(found->bytes, 3 * 12 * kMiB);
  }
}

// Steps of 512 KiB from each rank but the last: 1.25 MiB are three of them. With a buffer of 1 MiB steps are of 128 KiB.
TEST(RingMessages, ABroadcastGoesInStepsOfTheBuffer) {
  EXPECT_EQ(ring_messages(ring("broadcast", 5 * kMiB / 4)),
            (Messages{.count = 3 * 3, .bytes = 3 * 5 * kMiB / 4}));
  EXPECT_EQ(ring_messages(ring("broadcast", 5 * kMiB / 4), kMiB),
            (Messages{.count = 10 * 3, .bytes = 3 * 5 * kMiB / 4}));
}

// 12 bytes are two lines of 16.
TEST(RingMessages, OfLlEachEightBytesTakeSixteen) {
  EXPECT_EQ(ring_messages(ring("broadcast", 12, "ll")), (Messages{.count = 3, .bytes = 3 * 32}));
}

// Half of 10 MiB each: a loop of 8 MiB does not fill, so that each channel has one, of four chunks of 1.25 MiB.
TEST(RingMessages, ChannelsShareAnOperation) {
  Operation two = ring("all_reduce", 10 * kMiB);
  two.channels = 2;
  EXPECT_EQ(ring_messages(two), (Messages{.count = 2 * 4 * 2 * 6, .bytes = 6 * 10 * kMiB}));
}

// Whatever the cut: simple moves what a ring moves.
TEST(RingMessages, EveryByteIsInOneMessage) {
  for (const std::int64_t bytes : {4, 252, 38'400, 2'052'000, 28'852'224, 46'758'048}) {
    for (const int channels : {1, 2, 3, 4, 8}) {
      for (const int ranks : {2, 3, 5, 16}) {
        Operation each = ring("all_reduce", bytes);
        each.channels = channels;
        each.group_size = ranks;
        const auto found = ring_messages(each);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->bytes, 2 * (ranks - 1) * bytes)
            << bytes << " " << channels << " " << ranks;
      }
    }
  }
}

TEST(RingMessages, WhatHasOtherRulesHasNoMessages) {
  EXPECT_EQ(ring_messages(ring("all_reduce", 0)), Messages{});
  EXPECT_FALSE(ring_messages(ring("all_to_all", 4096)));
  EXPECT_FALSE(ring_messages(ring("all_reduce", 4096, "ll128")));
  Operation tree = ring("all_reduce", 4096);
  tree.algorithm = "tree";
  EXPECT_FALSE(ring_messages(tree));
  EXPECT_FALSE(ring_messages(ring("all_reduce", std::int64_t{1} << 61)));
  EXPECT_FALSE(ring_messages(ring("all_reduce", 4096), std::int64_t{1} << 61));
  Operation wide = ring("all_reduce", std::int64_t{1} << 42);
  wide.group_size = 1 << 16;
  EXPECT_EQ(ring_messages(wide)->bytes, 2 * 65'535 * (std::int64_t{1} << 42));
  wide.channels = 9'999'999;
  EXPECT_FALSE(ring_messages(wide));
}

}  // namespace
}  // namespace tw::operations
