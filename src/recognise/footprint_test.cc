// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/footprint.h"

#include "trainwire/collective/count.h"
#include "trainwire/collective/strategies.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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

/// The match of these, which others may look like.
Packed match_of(const std::vector<Packed>& matches, const std::string& strategy, int each) {
  for (const Packed& one : matches) {
    if (one.strategy == strategy && one.ranks_on_each == each) return one;
  }
  ADD_FAILURE() << strategy << " with " << each << " on each host is not among the matches";
  return {};
}

TEST(Footprint, TellsStrategyRanksAndBytesFromTheConnections) {
  for (const char* strategy : {"halving_doubling", "double_tree", "clique", "star"}) {
    for (const int each : {2, 4}) {
      const Packed found =
          match_of(match_packed(connections(strategy, 3 * each, 3)), strategy, each);
      EXPECT_NEAR(found.payload, 1'000'000, 1'000) << strategy << each;
    }
  }
}

TEST(Footprint, KnowsWhichHostsServe) {
  // Two servers on the last of three hosts, two workers on each of the others.
  const Packed found = match_of(match_packed(connections("ps", 6, 3, 2)), "ps", 2);
  EXPECT_EQ(found.servers, (std::vector<int>{11}));
  EXPECT_NEAR(found.payload, 1'000'000, 1'000);
}

TEST(Footprint, SaysNothingOfTwoHosts) {
  EXPECT_TRUE(match_packed(connections("halving_doubling", 4, 2)).empty());
}

TEST(Footprint, SaysNothingOfOneRankOnEachHost) {
  EXPECT_TRUE(match_packed(connections("halving_doubling", 4, 4)).empty());
}

TEST(Footprint, SaysNothingWhereOneConnectionCarriesSomethingElse) {
  std::vector<Carried> seen = connections("halving_doubling", 6, 3);
  seen.front().bytes *= 1.5;
  EXPECT_TRUE(match_packed(seen).empty());
}

}  // namespace
}  // namespace tw::recognise
