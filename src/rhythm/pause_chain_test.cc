// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/pause_chain.h"

#include <gtest/gtest.h>

#include <vector>

namespace tw::rhythm {
namespace {

/// Pauses at these places, in kB, all worth the same; the first and the last are the ends.
std::vector<Pause> pauses_at(const std::vector<double>& places) {
  std::vector<Pause> pauses;
  for (const double place : places) {
    const bool is_end = place == places.front() || place == places.back();
    pauses.push_back({1000 * place, 1e6, 1e6, 0, pauses.size(), is_end, 1, 1});
  }
  return pauses;
}

TEST(BestChain, LinksThePausesAtOneDistanceAndSkipsThoseBetween) {
  const auto pauses = pauses_at({0, 100, 130, 200, 270, 300, 400});
  const auto chain = best_chain(pauses, 100'000, &Pause::worth);
  ASSERT_EQ(chain.size(), 4);
  EXPECT_EQ(chain[1].from, 1);
  EXPECT_EQ(chain[1].to, 3);
  EXPECT_EQ(chain[1].distances, 1);
}

TEST(BestChain, SpansAPauseThatIsInvisible) {
  const auto chain = best_chain(pauses_at({0, 100, 300, 400, 500}), 100'000, &Pause::worth);
  ASSERT_EQ(chain.size(), 4);
  EXPECT_EQ(chain[1].distances, 2);
}

// 60 kB do not fit: from the beginning they are left over at the end, and the other way round.
TEST(BestChain, HoldsTheEndThatItIsAnchoredTo) {
  const auto pauses = pauses_at({0, 60, 100, 160, 200, 260, 300, 360, 400, 460});
  const auto from_begin = best_chain(pauses, 100'000, &Pause::worth, Anchor::Begin);
  const auto to_end = best_chain(pauses, 100'000, &Pause::worth, Anchor::End);
  ASSERT_FALSE(from_begin.empty());
  ASSERT_FALSE(to_end.empty());
  EXPECT_EQ(from_begin.front().from, 0);
  EXPECT_EQ(from_begin.back().to, 8);
  EXPECT_EQ(to_end.front().from, 1);
  EXPECT_EQ(to_end.back().to, 9);
}

TEST(Slack, GrowsWithTheRootOfTheDistances) {
  // 0.6 % of 1 MB, twice that for four of them, and 200 bytes in both cases.
  EXPECT_DOUBLE_EQ(slack(1e6, 1), 6200);
  EXPECT_DOUBLE_EQ(slack(1e6, 4), 12200);
}

}  // namespace
}  // namespace tw::rhythm
