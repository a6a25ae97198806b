// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/footprint.h"

#include "trainwire/collective/count.h"
#include "trainwire/collective/strategies.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tw::recognise {
namespace {

/// Of a strategy with one rank on each host.
Footprint footprint(const std::string& strategy, int ranks) {
  return {strategy, {.layout = collective::evenly(ranks, ranks)}};
}

/// What is seen of it where host h lives at place `places[h]`.
Footprint placed(const Footprint& expected, const std::vector<int>& places, double payload) {
  std::vector<Carried> seen;
  for (int from = 0; from < expected.hosts(); ++from) {
    for (int to = 0; to < expected.hosts(); ++to) {
      const double part = expected.at(from, to).front();
      if (part <= 0) continue;
      seen.push_back({places[static_cast<std::size_t>(from)], places[static_cast<std::size_t>(to)],
                      payload * part});
    }
  }
  return {expected.hosts(), seen};
}

TEST(Footprint, OfARingIsTheClosedForm) {
  // 2 * 3/4 of the payload to the successor, nothing elsewhere.
  const Footprint ring = footprint("ring", 4);
  EXPECT_NEAR(ring.at(0, 1).front(), 1.5, 1e-6);
  EXPECT_DOUBLE_EQ(ring.at(1, 0).front(), 0);
}

TEST(Match, FindsRanksBehindHostsWhateverTheirOrder) {
  for (const std::string strategy : {"ring", "halving_doubling", "double_tree", "clique",
                                     "recursive_doubling", "reduce_broadcast"}) {
    for (const std::vector<int>& places :
         {std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}, std::vector<int>{3, 7, 1, 0, 6, 2, 5, 4}}) {
      const Footprint expected = footprint(strategy, 8);
      const auto found = match(placed(expected, places, 4e6), expected, 0.02);
      ASSERT_TRUE(found) << strategy;
      EXPECT_NEAR(found->payload, 4e6, 1) << strategy;
      EXPECT_NEAR(found->residual, 0, 1e-9) << strategy;
    }
  }
}

TEST(Match, KnowsNcclsTrees) {
  // Root 0 with the child 4, below it 2 and 5, below 2 the leaves 1 and 3; and that mirrored.
  const Footprint six = nccl_trees(6);
  EXPECT_DOUBLE_EQ(six.at(4, 0).front(), 0.5);
  EXPECT_DOUBLE_EQ(six.at(2, 4).front(), 0.5);
  EXPECT_DOUBLE_EQ(six.at(2, 3).front(), 1);
  EXPECT_DOUBLE_EQ(six.at(5, 0).front(), 0);
  EXPECT_NEAR(six.total(), 10, 1e-9);
  EXPECT_FALSE(match(six, footprint("double_tree", 6), 0.02));
  for (const int hosts : {2, 3, 4, 8}) {
    EXPECT_TRUE(match(nccl_trees(hosts), footprint("double_tree", hosts), 0.02)) << hosts;
  }
}

TEST(Match, RefusesAnotherStrategy) {
  const std::vector<int> places{0, 1, 2, 3, 4, 5, 6, 7};
  const Footprint ring = placed(footprint("ring", 8), places, 4e6);
  EXPECT_FALSE(match(ring, footprint("halving_doubling", 8), 0.02));
  EXPECT_FALSE(match(ring, footprint("ring", 4), 0.02));
}

TEST(Match, RefusesARingWithAnUnevenEdge) {
  const Footprint seen(3, {{0, 1, 100}, {1, 2, 100}, {2, 0, 90}});
  EXPECT_FALSE(match(seen, footprint("ring", 3), 0.04));
}

TEST(Match, TakesFoldedHalvingDoublingForPlainOfAPowerOfTwo) {
  const std::vector<int> places{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_TRUE(match(placed(footprint("halving_doubling", 8), places, 4e6),
                    footprint("folded_halving_doubling", 8), 0.02));
}

TEST(Match, TellsFoldedHalvingDoublingFromPlainOtherwise) {
  const std::vector<int> places{0, 1, 2, 3, 4};
  EXPECT_FALSE(match(placed(footprint("halving_doubling", 5), places, 4e6),
                     footprint("folded_halving_doubling", 5), 0.02));
}

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

TEST(MatchPacked, TellsStrategyRanksAndBytesFromTheConnections) {
  for (const char* strategy : {"halving_doubling", "double_tree", "clique", "star"}) {
    for (const int each : {2, 4}) {
      const Packed found =
          match_of(match_packed(connections(strategy, 3 * each, 3)), strategy, each);
      EXPECT_NEAR(found.payload, 1'000'000, 1'000) << strategy << each;
    }
  }
}

TEST(MatchPacked, KnowsWhichHostsServe) {
  // Two servers on the last of three hosts, two workers on each of the others.
  const Packed found = match_of(match_packed(connections("ps", 6, 3, 2)), "ps", 2);
  EXPECT_EQ(found.servers, (std::vector<int>{11}));
  EXPECT_NEAR(found.payload, 1'000'000, 1'000);
}

TEST(MatchPacked, SaysNothingOfTwoHosts) {
  EXPECT_TRUE(match_packed(connections("halving_doubling", 4, 2)).empty());
}

TEST(MatchPacked, SaysNothingOfOneRankOnEachHost) {
  EXPECT_TRUE(match_packed(connections("halving_doubling", 4, 4)).empty());
}

TEST(MatchPacked, SaysNothingWhereOneConnectionCarriesSomethingElse) {
  std::vector<Carried> seen = connections("halving_doubling", 6, 3);
  seen.front().bytes *= 1.5;
  EXPECT_TRUE(match_packed(seen).empty());
}

}  // namespace
}  // namespace tw::recognise
