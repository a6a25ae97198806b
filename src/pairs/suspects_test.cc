// SPDX-License-Identifier: Apache-2.0
#include "trainwire/pairs/suspects.h"

#include "trainwire/pairs/pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tw::pairs {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Ways of 100 with 2 % of noise.
Badness noisy(std::size_t hosts, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 0.02);
  Badness made{.hosts = hosts,
               .values = std::vector<double>(hosts * hosts),
               .least_spread = 0.03,
               .least_difference = std::log(1 / 0.9)};
  for (double& value : made.values) value = -std::log(100) + noise(random);
  return made;
}

void slow_down(Badness& badness, std::size_t from, std::size_t to, double factor) {
  badness.values[from * badness.hosts + to] += std::log(factor);
}

TEST(Suspects, FindsNobodyWhereAllAreAlike) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    EXPECT_THAT(suspects(noisy(3 + seed % 30, seed)), IsEmpty()) << seed;
  }
}

TEST(Suspects, FindsTheHostThatReceivesSlowlyAndNotItsPartners) {
  for (std::size_t hosts = 3; hosts <= 20; ++hosts) {
    Badness badness = noisy(hosts, static_cast<unsigned>(hosts));
    for (std::size_t from = 0; from < hosts; ++from) slow_down(badness, from, 1, 2);
    const auto found = suspects(badness);
    ASSERT_THAT(found, SizeIs(1)) << hosts;
    EXPECT_EQ(found.front().to, 1u);
    EXPECT_FALSE(found.front().from);
    EXPECT_NEAR(std::exp(found.front().value - found.front().usual), 2, 0.2);
  }
}

TEST(Suspects, FindsAWayBetweenTwoWhoAreFineWithOthers) {
  for (std::size_t hosts = 4; hosts <= 20; ++hosts) {
    Badness badness = noisy(hosts, static_cast<unsigned>(hosts));
    slow_down(badness, 2, 0, 3);
    const auto found = suspects(badness);
    ASSERT_THAT(found, SizeIs(1)) << hosts;
    EXPECT_EQ(found.front().from, 2u);
    EXPECT_EQ(found.front().to, 0u);
  }
}

TEST(Suspects, FindsSeveralWithTheWorstFirst) {
  Badness badness = noisy(12, 7);
  for (std::size_t to = 0; to < 12; ++to) slow_down(badness, 3, to, 1.5);
  for (std::size_t from = 0; from < 12; ++from) slow_down(badness, from, 8, 4);
  slow_down(badness, 0, 1, 2);
  const auto found = suspects(badness);
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].to, 8u);
  EXPECT_TRUE((found[1].from == 0u && found[1].to == 1u) || found[1].from == 3u);
}

TEST(Suspects, SaysNothingOfTwo) {
  Badness badness = noisy(2, 1);
  slow_down(badness, 0, 1, 10);
  EXPECT_THAT(suspects(badness), IsEmpty());
}

Figure figure(int from, int to) {
  return {.from = from, .to = to, .rate_bps = 1e9, .round_trip_s = 1e-4, .retransmitted = 3};
}

TEST(Pairs, TellsWhatIsSlowFarAndLossy) {
  std::vector<Figure> figures;
  for (int from = 0; from < 6; ++from) {
    for (int to = 0; to < 6; ++to) {
      if (from == to) continue;
      Figure one = figure(from, to);
      if (to == 2) one.rate_bps = 0.4e9;
      if (from == 4) one.retransmitted = 900;
      if (from == 5 || to == 5) one.round_trip_s = 5e-4;
      figures.push_back(one);
    }
  }
  const auto found = findings({"a", "b", "c", "d", "e", "f"}, figures);
  std::vector<std::string> texts;
  for (const Finding& each : found) texts.push_back(each.text);
  EXPECT_THAT(texts, testing::UnorderedElementsAre(
                         HasSubstr("what c receives is slow: 400 Mbit/s, elsewhere 1 Gbit/s"),
                         HasSubstr("f is far"), HasSubstr("what e sends is sent again")));
}

}  // namespace
}  // namespace tw::pairs
