// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/footprint.h"

#include "trainwire/collective/count.h"
#include "trainwire/collective/strategies.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tw::recognise {
namespace {

/// What each connection carries when `ranks` on `hosts` exchange a megabyte. Host h is called
/// 10 + hosts - h, so that no order comes by itself.
std::vector<Carried> connections(const std::string& strategy, int ranks, int hosts,
                                 int servers = 1) {
  const collective::Arrangement arrangement{.layout = collective::evenly(ranks, hosts),
                                            .servers = servers};
  const collective::Schedule schedule = collective::make_schedule(strategy, arrangement);
  std::vector<Carried> result;
  collective::for_each_host_pair(
      schedule, collective::evenly(ranks, ranks), 1'000'000,
      [&](int from, int to, std::int64_t elements, std::int64_t) {
        const int a = arrangement.layout.host(from);
        const int b = arrangement.layout.host(to);
        if (a == b) return;
        result.push_back({10 + hosts - a, 10 + hosts - b, static_cast<double>(elements)});
      });
  return result;
}

TEST(Footprint, TellsStrategyRanksAndBytesFromTheConnections) {
  for (const char* strategy : {"halving_doubling", "double_tree", "clique"}) {
    for (const int each : {2, 4}) {
      const auto found = match_packed(connections(strategy, 3 * each, 3));
      ASSERT_TRUE(found) << strategy << each;
      EXPECT_EQ(found->strategy, strategy) << each;
      // Two or four ranks of a double tree have the same connections between three hosts.
      if (found->strategy != "double_tree") {
        EXPECT_EQ(found->ranks_on_each, each) << strategy;
      }
      EXPECT_NEAR(found->payload, 1'000'000, 1'000) << strategy << each;
    }
  }
}

TEST(Footprint, KnowsWhichHostsServe) {
  // Two servers on the last of three hosts, two workers on each of the others.
  const auto found = match_packed(connections("ps", 6, 3, 2));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->strategy, "ps");
  EXPECT_EQ(found->servers, (std::vector<int>{11}));
  EXPECT_NEAR(found->payload, 1'000'000, 1'000);
}

TEST(Footprint, SaysNothingOfTwoHosts) {
  EXPECT_FALSE(match_packed(connections("halving_doubling", 4, 2)));
}

TEST(Footprint, SaysNothingOfOneRankOnEachHost) {
  EXPECT_FALSE(match_packed(connections("halving_doubling", 4, 4)));
}

TEST(Footprint, SaysNothingWhereOneConnectionCarriesSomethingElse) {
  std::vector<Carried> seen = connections("halving_doubling", 6, 3);
  seen.front().bytes *= 1.5;
  EXPECT_FALSE(match_packed(seen));
}

}  // namespace
}  // namespace tw::recognise
