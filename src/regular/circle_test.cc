// SPDX-License-Identifier: Apache-2.0
#include "trainwire/regular/circle.h"

#include "trainwire/base/random.h"

#include <gmock/gmock.h>

namespace tw::regular {
namespace {

using Times = std::vector<std::int64_t>;

// Four places, 10 ns for a chunk and 3 for its way, all at once: six rounds of 13.
TEST(Circle, WholeChunksTakeTheirTimeAndTheirWayInEveryRound) {
  const Circle circle{.long_leaving = Times(4, 10),
                      .short_leaving = Times(4, 10),
                      .way = Times(4, 3),
                      .first = Times(4, 1)};
  const Rounds rounds = walked(circle, Times(4));
  EXPECT_EQ(rounds.left, Times(4, 5 * 13 + 10));
  EXPECT_EQ(rounds.came, Times(4, 6 * 13));
  EXPECT_EQ(swept(circle, Times(4)), rounds);
}

// Passed on as they come, chunks keep lines busy: the way is paid once.
TEST(Circle, PassedOnAsTheyComeChunksFollowEachOther) {
  const Circle circle{.long_leaving = Times(4, 10),
                      .short_leaving = Times(4, 10),
                      .way = Times(4, 3),
                      .first = Times(4, 1),
                      .long_whole = false,
                      .short_whole = false};
  EXPECT_EQ(walked(circle, Times(4)).came, Times(4, 6 * 10 + 3));
}

// The slowest place is waited for by all: R times its time, and the way out of it.
TEST(Circle, ASlowPlaceSetsThePace) {
  const Circle circle{.long_leaving = Times(5, 10),
                      .short_leaving = {10, 10, 40, 10, 10},
                      .way = Times(5),
                      .first = Times(5)};
  EXPECT_EQ(swept(circle, Times(5)).left[2], 8 * 40);
}

TEST(Circle, ChunksThatAreNotSentAreNotWaitedFor) {
  const Circle circle{.long_leaving = Times(4, 10),
                      .short_leaving = Times(4),
                      .way = Times(4, 3),
                      .first = Times(4, 1),
                      .long_chunks = 1,
                      .short_empty = true};
  // Chunk 0 goes from place 0 around to place 3, and from there around to place 2.
  const Rounds rounds = walked(circle, {0, 0, 0, 5});
  EXPECT_EQ(rounds.began, (Times{0, 13, 26, 39}));
  EXPECT_EQ(rounds.came, (Times{4 * 13, 5 * 13, 6 * 13, 3 * 13}));
}

/// Times of few values, as links have them, or of many.
Times drawn(Random& random, int n, int values, std::int64_t most) {
  Times pool;
  for (int i = 0; i < values; ++i) {
    pool.push_back(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most + 1))));
  }
  Times times;
  for (int i = 0; i < n; ++i) times.push_back(pool[random.below(pool.size())]);
  return times;
}

TEST(Circle, SweepingGivesWhatWalkingGives) {
  Random random(7, "circles");
  for (int i = 0; i < 6000; ++i) {
    const int n = 2 + static_cast<int>(random.below(12));
    Circle circle{.short_leaving = drawn(random, n, 1 + static_cast<int>(random.below(4)), 50),
                  .way = drawn(random, n, 3, i % 3 == 0 ? 5 : 60)};
    circle.long_leaving = circle.short_leaving;
    for (std::int64_t& time : circle.long_leaving) {
      time += static_cast<std::int64_t>(random.below(6));
    }
    circle.long_chunks = static_cast<int>(random.below(static_cast<std::uint64_t>(n)));
    circle.long_whole = circle.short_whole = i % 2 == 0;
    for (const std::int64_t time : circle.short_leaving) {
      circle.first.push_back(
          std::min<std::int64_t>(time, static_cast<std::int64_t>(random.below(9))));
    }
    const Times begin = drawn(random, n, n, i % 5 == 0 ? 0 : 300);
    ASSERT_EQ(swept(circle, begin), walked(circle, begin)) << i << " of " << n;
  }
}

}  // namespace
}  // namespace tw::regular
