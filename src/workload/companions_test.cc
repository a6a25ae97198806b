// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/companions.h"

#include "trainwire/collective/strategies.h"

#include <gmock/gmock.h>

namespace tw::workload {

using namespace collective;
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Arrangement five() { return {.layout = evenly(5, 5), .servers = 2}; }

/// Of the rank's transfer with that number in its order.
std::vector<int> companions_of(const Schedule& schedule, int rank, std::size_t number) {
  return companions(schedule, transfers_of(schedule, rank).at(number));
}

// Three workers push each of two shards, and each server's shard goes to all of them.
TEST(Companions, OfAServerAreItsWorkers) {
  const Schedule schedule = ps(five());
  EXPECT_THAT(companions_of(schedule, 0, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(companions_of(schedule, 0, 2), ElementsAre(0, 1, 2));
  EXPECT_EQ(groups_beside(schedule, transfers_of(schedule, 0).at(0)), 2);
  EXPECT_EQ(groups_beside(schedule, transfers_of(schedule, 0).at(2)), 2);
}

TEST(Companions, OfAsynchronousServersAreNobody) {
  Arrangement arrangement = five();
  arrangement.asynchronous = true;
  EXPECT_THAT(companions_of(ps(arrangement), 1, 0), ElementsAre(1));
}

// Pieces follow one another: a piece's senders are those of its round.
TEST(Companions, OfAStarAreAllOthers) {
  Arrangement arrangement = five();
  arrangement.pieces = 4;
  const Schedule schedule = star(arrangement);
  EXPECT_THAT(companions_of(schedule, 3, 0), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(companions_of(schedule, 3, 7), ElementsAre(1, 2, 3, 4));
}

TEST(Companions, OfACliqueAreAllOthersForEachRank) {
  const Schedule schedule = clique(five());
  EXPECT_THAT(companions_of(schedule, 3, 0), SizeIs(4));
  EXPECT_EQ(groups_beside(schedule, transfers_of(schedule, 3).at(0)), 4);
}

TEST(Companions, OfARingAreNobodyElse) {
  EXPECT_THAT(companions_of(ring(five()), 2, 0), SizeIs(1));
  EXPECT_THAT(companions_of(pair_averaging(five()), 2, 0), IsEmpty());
}

}  // namespace
}  // namespace tw::workload
