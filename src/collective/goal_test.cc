// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/goal.h"

#include "trainwire/collective/strategies.h"

#include <gtest/gtest.h>

namespace tw::collective {
namespace {

TEST(HeldInTheEnd, IsTheSumForWorkersOfAnAllReduce) {
  const Schedule schedule = ps({.layout = evenly(4, 4)});
  EXPECT_EQ(held_in_the_end(schedule, 2, 0), (Held{.what = Held::What::Sum}));
  EXPECT_EQ(held_in_the_end(schedule, 3, 0), (Held{.what = Held::What::Open}));
}

TEST(HeldInTheEnd, IsTheRootsPayloadAfterABroadcast) {
  EXPECT_EQ(held_in_the_end(broadcast(evenly(4, 4)), 3, 0),
            (Held{.what = Held::What::Copy, .of = 0}));
}

TEST(HeldInTheEnd, IsWhatEachRankHadForThisOneAfterAnAllToAll) {
  // Of 5 ranks, 3 and 4 have chunk 3 + 4 - 5 = 2 for each other, and 3 keeps 2 * 3 - 5 = 1.
  const Schedule schedule = all_to_all({.layout = evenly(5, 5)});
  EXPECT_EQ(held_in_the_end(schedule, 3, 2), (Held{.what = Held::What::Copy, .of = 4}));
  EXPECT_EQ(held_in_the_end(schedule, 4, 2), (Held{.what = Held::What::Copy, .of = 3}));
  EXPECT_EQ(held_in_the_end(schedule, 3, 1), (Held{.what = Held::What::Copy, .of = 3}));
}

TEST(HeldInTheEnd, IsOpenWhereEverybodyGoesItsOwnPace) {
  EXPECT_EQ(held_in_the_end(pair_averaging({.layout = evenly(4, 4)}), 0, 0),
            (Held{.what = Held::What::Open}));
  EXPECT_EQ(held_in_the_end(ps({.layout = evenly(4, 4), .asynchronous = true}), 0, 0),
            (Held{.what = Held::What::Open}));
}

}  // namespace
}  // namespace tw::collective
