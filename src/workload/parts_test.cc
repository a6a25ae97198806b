// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/parts.h"

#include "trainwire/collective/strategies.h"

#include <gmock/gmock.h>

namespace tw::workload {
namespace {

using collective::Passing;
using testing::ElementsAre;
using testing::IsEmpty;

/// Rank 0 of a ring of three with 9 elements: chunks of 3, 12 bytes each.
Parts ring_of_three(Passing passing, std::span<const Wire> wires, int lanes = 1) {
  const collective::Schedule schedule =
      collective::make_schedule("ring", {.layout = collective::evenly(3, 3)});
  return make_parts({.schedule = schedule,
                     .rank = 0,
                     .range = {.first = 0, .elements = 9},
                     .wires = wires,
                     .lanes = lanes,
                     .passing = passing});
}

constexpr std::array kWires{Wire{.peer = 1}, Wire{.peer = 2}};

TEST(Parts, OfARingGoToOneNeighbourAndComeFromTheOther) {
  const Parts parts = ring_of_three(Passing::Whole, kWires);
  EXPECT_EQ(parts.sends[0].size(), 4u);  // 2(P-1) to the next
  EXPECT_THAT(parts.sends[1], IsEmpty());
  EXPECT_THAT(parts.receives[0], IsEmpty());
  EXPECT_EQ(parts.receives[1].size(), 4u);
}

TEST(Parts, WaitForTheRoundThatFillsThem) {
  Parts parts = ring_of_three(Passing::Whole, kWires);
  const Part& second = parts.parts[static_cast<std::size_t>(parts.sends[0][1])];
  EXPECT_EQ(parts.limit(parts.parts[static_cast<std::size_t>(parts.sends[0][0])]),
            parts.parts[static_cast<std::size_t>(parts.sends[0][0])].end);
  EXPECT_EQ(parts.limit(second), second.begin);
  Part& came = parts.parts[static_cast<std::size_t>(parts.receives[1][0])];
  came.position += 4;
  EXPECT_EQ(parts.limit(second), second.begin);
  came.position = came.end;
  EXPECT_EQ(parts.limit(second), second.end);
}

TEST(Parts, FollowTheirBytesWhenTheyCutThrough) {
  Parts parts = ring_of_three(Passing::CutThrough, kWires);
  const Part& second = parts.parts[static_cast<std::size_t>(parts.sends[0][1])];
  Part& came = parts.parts[static_cast<std::size_t>(parts.receives[1][0])];
  came.position += 4;
  EXPECT_EQ(parts.limit(second), second.begin + 4);
}

TEST(Parts, AreSharedByLanes) {
  constexpr std::array kLanes{Wire{.peer = 1}, Wire{.peer = 1, .lane = 1}, Wire{.peer = 2},
                              Wire{.peer = 2, .lane = 1}};
  const Parts parts = ring_of_three(Passing::Whole, kLanes, 2);
  const Part& first = parts.parts[static_cast<std::size_t>(parts.sends[0][0])];
  const Part& other = parts.parts[static_cast<std::size_t>(parts.sends[1][0])];
  EXPECT_EQ(first.end - first.begin, 8);  // 3 elements: 2 and 1
  EXPECT_EQ(other.begin, first.end);
  EXPECT_EQ(other.end - other.begin, 4);
}

TEST(Parts, KnowWhatTheyAreExchangedFor) {
  // Rank 0 of 3: its part of chunk 1 for rank 1's, and its part of chunk 2 for rank 2's.
  const collective::Schedule schedule =
      collective::make_schedule("all_to_all", {.layout = collective::evenly(3, 3)});
  const Parts parts = make_parts(
      {.schedule = schedule, .rank = 0, .range = {.first = 0, .elements = 9}, .wires = kWires});
  for (const std::size_t wire : {0u, 1u}) {
    const Part& came = parts.parts[static_cast<std::size_t>(parts.receives[wire][0])];
    EXPECT_EQ(came.exchanged, parts.sends[wire][0]);
  }
  for (const Part& part : ring_of_three(Passing::Whole, kWires).parts) {
    EXPECT_EQ(part.exchanged, -1);
  }
}

TEST(Parts, OfOtherLanesDoNotWaitForEachOther) {
  constexpr std::array kLanes{Wire{.peer = 1}, Wire{.peer = 1, .lane = 1}, Wire{.peer = 2},
                              Wire{.peer = 2, .lane = 1}};
  Parts parts = ring_of_three(Passing::Whole, kLanes, 2);
  Part& came = parts.parts[static_cast<std::size_t>(parts.receives[3][0])];
  const Part& same = parts.parts[static_cast<std::size_t>(parts.sends[1][1])];
  const Part& other = parts.parts[static_cast<std::size_t>(parts.sends[0][1])];
  came.position = came.end;
  EXPECT_EQ(parts.limit(same), same.end);
  EXPECT_EQ(parts.limit(other), other.begin);
}

TEST(Parts, WaitAgainWhenRewound) {
  Parts parts = ring_of_three(Passing::Whole, kWires);
  const Part& second = parts.parts[static_cast<std::size_t>(parts.sends[0][1])];
  Part& came = parts.parts[static_cast<std::size_t>(parts.receives[1][0])];
  came.position = came.end;
  EXPECT_EQ(parts.limit(second), second.end);
  parts.rewind();
  EXPECT_EQ(parts.limit(second), second.begin);
}

TEST(Peers, OfARingAreItsNeighboursAndThoseOfTheBroadcast) {
  Training training;
  training.strategy = "ring";
  training.arrangement.layout = collective::evenly(5, 5);
  training.buckets = {{.elements = 10}};
  training.broadcast = false;
  EXPECT_THAT(peers_of(training, 0), ElementsAre(1, 4));
  training.broadcast = true;
  EXPECT_THAT(peers_of(training, 0), ElementsAre(1, 2, 4));
}

TEST(Peers, OfRanksThatDrawAreAllOthers) {
  Training training;
  training.strategy = "pair_averaging";
  training.arrangement.layout = collective::evenly(4, 4);
  EXPECT_THAT(peers_of(training, 2), ElementsAre(0, 1, 3));
}

}  // namespace
}  // namespace tw::workload
