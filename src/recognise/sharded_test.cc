// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/sharded.h"

#include <gtest/gtest.h>

namespace tw::recognise {
namespace {

// Four layers of 4 and a last one of 7 that is kept: gathered 7 4 4 4 4, back 4 4 4 4 with as many
// scattered, and 7 scattered. In all 12 times 4 and twice 7: 62, of a model of 23.
TEST(Shards, AreSizesThatComeInThrees) {
  const auto found = shards_of({7, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 7}, 4);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->collectives, 14u);
  EXPECT_NEAR(found->model, 23.0 / 62, 1e-9);
  EXPECT_NEAR(found->gathered, (32.0 + 7) / 62, 1e-9);
}

TEST(Shards, AreFoundWhereSomeFollowWithoutAPause) {
  const auto found = shards_of({7, 4, 8, 4, 12, 4, 4, 8, 4, 7}, 4);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->model, 23.0 / 62, 1e-9);
}

TEST(Shards, AreNotBucketsOfDifferentSizes) {
  EXPECT_FALSE(shards_of({1, 25, 25.8, 26.9, 11, 13}, 4));
}

TEST(Shards, AreNotTheRoundsOfTwoBuckets) {
  // Six rounds of each of two buckets, in a ring of four.
  EXPECT_FALSE(shards_of({2, 2, 2, 2, 2, 2, 5, 5, 5, 5, 5, 5}, 4));
}

TEST(Shards, AreNotEqualPartsAlone) { EXPECT_FALSE(shards_of({3, 3, 3, 3, 3, 3}, 5)); }

}  // namespace
}  // namespace tw::recognise
