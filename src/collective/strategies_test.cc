// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/strategies.h"

#include "trainwire/collective/count.h"
#include "trainwire/collective/test_grid.h"
#include "trainwire/collective/verify.h"

#include <gmock/gmock.h>

#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace tw::collective {
namespace {

using testing::Each;
using testing::IsEmpty;

/// Elements between ranks, each rank alone on its host.
std::map<std::pair<int, int>, std::int64_t> matrix(const Schedule& schedule,
                                                   std::int64_t elements) {
  std::map<std::pair<int, int>, std::int64_t> result;
  for_each_host_pair(schedule, evenly(schedule.ranks, schedule.ranks), elements,
                     [&](int from, int to, std::int64_t size, std::int64_t) {
                       result[{from, to}] = size;
                     });
  return result;
}

Arrangement alone(int ranks) { return {.layout = evenly(ranks, ranks)}; }

int floor_log2(int value) { return std::bit_width(static_cast<unsigned>(value)) - 1; }

TEST(EveryStrategy, IsProvenForUpTo33Ranks) {
  for_each_case(33, [](const Case& one) {
    const Layout& layout = one.arrangement.layout;
    const bool sees_hosts = strategy(one.strategy).sees_hosts;
    if (!sees_hosts && layout != evenly(layout.ranks(), layout.ranks())) return;
    EXPECT_THAT(faults(make(one)), IsEmpty()) << one.text();
  });
}

/// Elements that a schedule moves, by the formula of its strategy.
std::int64_t formula(const Schedule& schedule, std::int64_t elements) {
  const std::int64_t ranks = schedule.ranks;
  const std::int64_t core = std::bit_floor(static_cast<unsigned>(schedule.ranks));
  const auto chunk = [&](std::int64_t i) {
    return chunk_elements(elements, schedule.chunks, static_cast<int>(i));
  };
  const std::int64_t all_reduce = 2 * (ranks - 1) * elements;
  if (ranks == 1) return 0;
  if (schedule.strategy == "ps") return 2 * schedule.workers * elements;
  if (schedule.strategy == "pair_averaging") return ranks * elements;
  if (schedule.strategy == "broadcast") return (ranks - 1) * elements;
  if (schedule.strategy == "recursive_doubling") {
    return (core * floor_log2(schedule.ranks) + 2 * (ranks - core)) * elements;
  }
  if (schedule.strategy == "folded_halving_doubling") {
    const int half = schedule.chunks / 2;  // and above: what extras add and give back
    return all_reduce + (ranks - core) * (elements - chunk_begin(elements, schedule.chunks, half));
  }
  // All but the chunk of which rank 0 holds the sum itself are gathered.
  if (schedule.strategy == "reduce_broadcast") return all_reduce + elements - chunk(ranks - 1);
  if (schedule.strategy == "all_to_all") {
    std::int64_t kept = 0;
    for (int rank = 0; rank < schedule.ranks; ++rank) kept += chunk(2 * rank % ranks);
    return ranks * elements - kept;
  }
  return all_reduce;
}

TEST(EveryStrategy, MovesTheBytesThatItsFormulaSays) {
  for_each_case(33, [](const Case& one) {
    const Schedule schedule = make(one);
    for (const std::int64_t elements : kPayloads) {
      EXPECT_EQ(count(schedule, one.arrangement.layout, elements).elements,
                formula(schedule, elements))
          << one.text() << ", " << elements << " elements";
    }
  });
}

TEST(EveryStrategy, HasNothingToDoForOneRank) {
  for (const Strategy& row : catalogue()) {
    if (row.has_servers) continue;
    const Schedule schedule = make_schedule(row.name, {.layout = evenly(1, 1), .pieces = 3});
    EXPECT_EQ(schedule.rounds, 0) << row.name;
    EXPECT_EQ(schedule.depth, 0) << row.name;
    EXPECT_THAT(schedule.program(0), IsEmpty()) << row.name;
  }
}

// What the catalogue says of a strategy is true of its schedules.

TEST(EveryStrategy, HasServersWhereTheCatalogueSaysSo) {
  for (const Strategy& row : catalogue()) {
    const Schedule schedule = make_schedule(row.name, {.layout = evenly(7, 7), .servers = 2});
    EXPECT_EQ(schedule.workers, row.has_servers ? 5 : 7) << row.name;
  }
}

TEST(EveryStrategy, SeesHostsWhereTheCatalogueSaysSo) {
  for (const Strategy& row : catalogue()) {
    const auto on_hosts = [&](int hosts) {
      return all_transfers(make_schedule(row.name, {.layout = evenly(9, hosts)}));
    };
    EXPECT_EQ(on_hosts(9) != on_hosts(3), row.sees_hosts) << row.name;
  }
}

TEST(EveryStrategy, CutsPiecesWhereTheCatalogueSaysSo) {
  for (const Strategy& row : catalogue()) {
    const auto in_pieces = [&](int pieces) {
      return make_schedule(row.name, {.layout = evenly(9, 9), .pieces = pieces}).chunks;
    };
    EXPECT_EQ(in_pieces(5) == 5 * in_pieces(1), row.cuts_pieces) << row.name;
  }
}

TEST(EveryStrategy, DrawsPeersAnewWhereTheCatalogueSaysSo) {
  for (const Strategy& row : catalogue()) {
    const auto in_step = [&](int step) {
      return all_transfers(make_schedule(row.name, {.layout = evenly(9, 9), .step = step}));
    };
    EXPECT_EQ(in_step(1) != in_step(2), row.draws_peers) << row.name;
  }
}

TEST(EveryStrategy, IsDenseWhereTheCatalogueSaysSo) {
  for (const Strategy& row : catalogue()) {
    if (row.draws_peers) continue;  // any two ranks may meet, though not in one step
    const std::size_t pairs = matrix(make_schedule(row.name, alone(9)), 9'000).size();
    EXPECT_EQ(pairs == 9 * 8, row.is_dense) << row.name;
  }
}

/// Runs a schedule on real numbers: an executor apart from the verifier's.
std::vector<std::vector<double>> executed(const Schedule& schedule,
                                          std::vector<std::vector<double>> payload) {
  const auto elements = static_cast<std::int64_t>(payload.front().size());
  const std::vector<Transfer> transfers = all_transfers(schedule);
  std::vector<std::vector<double>> before;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const Transfer& t = transfers[i];
    if (i == 0 || transfers[i - 1].round != t.round) before = payload;
    const auto begin = static_cast<std::size_t>(chunk_begin(elements, schedule.chunks, t.chunk));
    const auto end =
        static_cast<std::size_t>(chunk_begin(elements, schedule.chunks, t.chunk + t.width));
    for (std::size_t e = begin; e < end; ++e) {
      const double sent = before[static_cast<std::size_t>(t.from)][e];
      double& own = payload[static_cast<std::size_t>(t.to)][e];
      if (t.combine == Combine::Replace) own = sent;
      if (t.combine == Combine::Sum) own += sent;
      if (t.combine == Combine::Average) own = (own + sent) / 2;
    }
  }
  return payload;
}

/// Worker w's element e is 100 w + e; servers start with zeros.
std::vector<std::vector<double>> start_values(const Schedule& schedule, std::size_t elements) {
  std::vector<std::vector<double>> payload(static_cast<std::size_t>(schedule.ranks),
                                           std::vector<double>(elements, 0));
  for (std::size_t w = 0; w < static_cast<std::size_t>(schedule.workers); ++w) {
    std::iota(payload[w].begin(), payload[w].end(), 100.0 * static_cast<double>(w));
  }
  return payload;
}

TEST(EveryAllReduce, SumsNumbersRightly) {
  for_each_case(9, [](const Case& one) {
    const Schedule schedule = make(one);
    if (schedule.goal != Goal::AllReduce) return;
    const auto result = executed(schedule, start_values(schedule, 23));
    const int w = schedule.workers;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(w); ++rank) {
      // Sum over workers v < w of 100 v + e.
      for (std::size_t e = 0; e < 23; ++e) {
        EXPECT_EQ(result[rank][e], 100.0 * (w * (w - 1) / 2) + w * static_cast<double>(e))
            << one.text();
      }
    }
  });
}

TEST(Ps, AsynchronouslyGivesWorkerISumsOfTheWorkersUpToI) {
  const Schedule schedule = ps({.layout = evenly(6, 6), .servers = 2, .asynchronous = true});
  const auto result = executed(schedule, start_values(schedule, 5));
  // Pushes in the order of the workers: worker i pulls 0 + 100 + ... + 100 i, plus e for each.
  for (std::size_t i = 0; i < 4; ++i) {
    const auto n = static_cast<double>(i);
    for (std::size_t e = 0; e < 5; ++e) {
      EXPECT_EQ(result[i][e], 100 * n * (n + 1) / 2 + (n + 1) * static_cast<double>(e));
    }
  }
}

TEST(PairAveraging, AveragesWithThePeerAsItWas) {
  const Schedule schedule = pair_averaging({.layout = evenly(7, 7), .seed = 5});
  const auto result = executed(schedule, start_values(schedule, 3));
  for (int rank = 0; rank < 7; ++rank) {
    const int peer = schedule.program(rank).front().from;
    EXPECT_EQ(result[static_cast<std::size_t>(rank)][2], 50.0 * (rank + peer) + 2);
  }
}

TEST(Ring, SendsToTheSuccessorOnly) {
  // 2(P-1)/P of 12,000 for P = 4: 6 chunks of 3,000.
  const auto pairs = matrix(ring(alone(4)), 12'000);
  ASSERT_EQ(pairs.size(), 4U);
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(pairs.at({rank, (rank + 1) % 4}), 18'000);
}

TEST(Ring, TakesTwiceAllButOneRoundsOfOneChunkEach) {
  for (int ranks = 2; ranks <= 33; ++ranks) {
    const Schedule schedule = ring(alone(ranks));
    EXPECT_EQ(schedule.rounds, 2 * (ranks - 1));
    EXPECT_EQ(schedule.depth, 2 * (ranks - 1));
    EXPECT_EQ(schedule.program(ranks - 1).size(), 4U);
    EXPECT_EQ(count(schedule, evenly(ranks, ranks), 1).transfers, 2 * ranks * (ranks - 1));
  }
}

TEST(Ring, CrossesHostsAsOftenAsRanksChangeHost) {
  // 16 ranks on 4 hosts: each host sends 2(R-1)/R of the payload to the next, R = 16.
  const Arrangement arrangement{.layout = evenly(16, 4)};
  const Count sum = count(ring(arrangement), arrangement.layout, 16'000);
  EXPECT_THAT(sum.host_sent_elements, Each(30'000));
  EXPECT_EQ(sum.local_elements, 12 * 30'000);
}

TEST(Hierarchical, CrossesHostsAsARingOfHosts) {
  // 2(H-1)/H of 12,000 for H = 4 from each host; twice the payload for each of 12 local ranks.
  const Arrangement arrangement{.layout = evenly(16, 4)};
  const Schedule schedule = hierarchical(arrangement);
  const Count sum = count(schedule, arrangement.layout, 12'000);
  EXPECT_THAT(sum.host_sent_elements, Each(18'000));
  EXPECT_EQ(sum.local_elements, 2 * 12 * 12'000);
  EXPECT_EQ(schedule.rounds, 2 * 3 + 2);
}

TEST(Hierarchical, IsARingOnHostsOfOneRank) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    EXPECT_EQ(all_transfers(hierarchical(alone(ranks))), all_transfers(ring(alone(ranks))));
  }
}

TEST(Hierarchical, IsOneLessDeepWhenOneHostOfManyHoldsSeveralRanks) {
  // Two ranks on host 0, one on each of the three others: 6 hops and one local transfer.
  const Schedule uneven = hierarchical({.layout = {.hosts = 4, .host_of = {0, 0, 1, 2, 3}}});
  EXPECT_EQ(uneven.rounds, 8);
  EXPECT_EQ(uneven.depth, 7);
  EXPECT_THAT(faults(uneven), IsEmpty());
}

TEST(Tree, IsAStarOnHostsOfOneRank) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    EXPECT_EQ(all_transfers(tree(alone(ranks))), all_transfers(star(alone(ranks))));
  }
}

TEST(Tree, HangsLocalRanksUnderTheirMaster) {
  // Hosts {0, 1}, {2, 3}, {4, 5}: M each way on edges 0-1, 2-3, 4-5 and 0-2, 0-4.
  const auto pairs = matrix(tree({.layout = evenly(6, 3), .pieces = 3}), 10'007);
  ASSERT_EQ(pairs.size(), 10U);
  for (const auto& [parent, child] : {std::pair(0, 1), {2, 3}, {4, 5}, {0, 2}, {0, 4}}) {
    EXPECT_EQ(pairs.at({parent, child}), 10'007);
    EXPECT_EQ(pairs.at({child, parent}), 10'007);
  }
}

TEST(BinaryTreeStar, RelaysTheFourthHostThroughTheSecond) {
  // Heap of 4: edges 0-1, 0-2, 1-3, M each way.
  const auto pairs = matrix(binary_tree_star(alone(4)), 10'007);
  ASSERT_EQ(pairs.size(), 6U);
  for (const auto& [parent, child] : {std::pair(0, 1), {0, 2}, {1, 3}}) {
    EXPECT_EQ(pairs.at({parent, child}), 10'007);
    EXPECT_EQ(pairs.at({child, parent}), 10'007);
  }
}

TEST(BinaryTreeStar, TakesTwiceItsHeightAndOneRoundForEachFurtherPiece) {
  for (int ranks = 2; ranks <= 33; ++ranks) {
    for (const int pieces : {1, 3, 8}) {
      const Schedule schedule =
          binary_tree_star({.layout = evenly(ranks, ranks), .pieces = pieces});
      EXPECT_EQ(schedule.rounds, 2 * floor_log2(ranks) + pieces - 1);
      EXPECT_EQ(schedule.depth, 2 * floor_log2(ranks));
    }
  }
}

TEST(Clique, SpreadsEvenlyOverAllOrderedPairs) {
  // 2M/P of 12,000 for P = 4.
  const auto pairs = matrix(clique(alone(4)), 12'000);
  ASSERT_EQ(pairs.size(), 12U);
  for (const auto& [pair, elements] : pairs) EXPECT_EQ(elements, 6'000);
  EXPECT_EQ(clique(alone(4)).rounds, 2);
  EXPECT_EQ(clique(alone(33)).program(17).size(), 4U);
}

TEST(HalvingDoubling, TakesTwoRoundsForEachBitAndTwoForTheRest) {
  for (int ranks = 1; ranks <= 33; ++ranks) {
    const int bits = floor_log2(ranks);
    EXPECT_EQ(halving_doubling(alone(ranks)).rounds, 2 * bits + (ranks == 1 << bits ? 0 : 2));
  }
}

TEST(HalvingDoubling, SendsTheBigHalvesToTheNearestPartner) {
  // P = 8, M = 8,000: each rank exchanges M/2, M/4, M/8 with partners 1, 2, 4 away, twice.
  const auto pairs = matrix(halving_doubling(alone(8)), 8'000);
  ASSERT_EQ(pairs.size(), 24U);
  for (const auto& [pair, elements] : pairs) {
    EXPECT_EQ(elements, 8'000 / (pair.first ^ pair.second)) << pair.first << " " << pair.second;
  }
}

TEST(HalvingDoubling, FoldsTheRanksAboveAPowerOfTwoInFirst) {
  // P = 5: rank 0 folds into rank 1 and gets M back; 2(p-1)/p M = 12,000 from each of 1..4.
  const Count sum = count(halving_doubling(alone(5)), evenly(5, 5), 8'000);
  EXPECT_EQ(sum.host_sent_elements,
            (std::vector<std::int64_t>{8'000, 20'000, 12'000, 12'000, 12'000}));
}

TEST(FoldedHalvingDoubling, IsHalvingDoublingOfAPowerOfTwo) {
  for (const int ranks : {1, 2, 4, 8, 16, 32}) {
    EXPECT_EQ(all_transfers(folded_halving_doubling(alone(ranks))),
              all_transfers(halving_doubling(alone(ranks))));
  }
}

TEST(FoldedHalvingDoubling, TakesTwoRoundsForEachBitAndThreeForTheRest) {
  for (int ranks = 1; ranks <= 33; ++ranks) {
    const int bits = floor_log2(ranks);
    const Schedule schedule = folded_halving_doubling(alone(ranks));
    EXPECT_EQ(schedule.rounds, 2 * bits + (ranks == 1 << bits ? 0 : 3));
    EXPECT_EQ(schedule.depth, schedule.rounds);
  }
}

TEST(FoldedHalvingDoubling, LetsBothOfAPairAddAHalf) {
  // P = 5, M = 8,000: rank 0 gives M/2 and the result; rank 1 gives M/2 and M/2, added. The core
  // of 0, 2, 3, 4 exchanges M/2 with the next place and M/4 with the one after, there and back.
  const auto pairs = matrix(folded_halving_doubling(alone(5)), 8'000);
  EXPECT_EQ(pairs.at({0, 1}), 12'000);
  EXPECT_EQ(pairs.at({1, 0}), 8'000);
  EXPECT_EQ(pairs.at({0, 2}), 8'000);
  EXPECT_EQ(pairs.at({0, 3}), 4'000);
  EXPECT_EQ(pairs.at({2, 4}), 4'000);
  EXPECT_EQ(pairs.size(), 2U + 8U);
}

TEST(RecursiveDoubling, TakesARoundForEachBitAndTwoForTheRest) {
  for (int ranks = 1; ranks <= 33; ++ranks) {
    const int bits = floor_log2(ranks);
    const Schedule schedule = recursive_doubling(alone(ranks));
    const int extras = ranks - (1 << bits);
    EXPECT_EQ(schedule.rounds, bits + (extras == 0 ? 0 : 2));
    const bool is_less_deep = extras > 0 && 2 * extras <= 1 << bits;
    EXPECT_EQ(schedule.depth, schedule.rounds - (is_less_deep ? 1 : 0));
  }
}

TEST(RecursiveDoubling, ExchangesThePayloadWithEachPartner) {
  // P = 6: 0 folds into 1 and 2 into 3; the core of 1, 3, 4, 5 is 1-3, 4-5, then 1-4, 3-5.
  const auto pairs = matrix(recursive_doubling(alone(6)), 8'000);
  ASSERT_EQ(pairs.size(), 12U);
  for (const auto& [a, b] : {std::pair(0, 1), {2, 3}, {1, 3}, {4, 5}, {1, 4}, {3, 5}}) {
    EXPECT_EQ(pairs.at({a, b}), 8'000);
    EXPECT_EQ(pairs.at({b, a}), 8'000);
  }
}

TEST(ReduceBroadcast, TakesARoundForEachRankAndForEachBit) {
  for (int ranks = 2; ranks <= 33; ++ranks) {
    const Schedule schedule = reduce_broadcast(alone(ranks));
    EXPECT_EQ(schedule.rounds, ranks + std::bit_width(static_cast<unsigned>(ranks - 1)));
    EXPECT_EQ(schedule.depth, ranks + floor_log2(ranks));
  }
}

TEST(ReduceBroadcast, PassesPartsBackwardsAndTheSumOverHighestBits) {
  // P = 4, M = 8,000: 3/4 M to the rank before, M/4 to rank 0, and M from 0 to 1 and 2, 1 to 3.
  const auto pairs = matrix(reduce_broadcast(alone(4)), 8'000);
  EXPECT_EQ(pairs.at({0, 3}), 6'000);
  EXPECT_EQ(pairs.at({1, 0}), 6'000 + 2'000);
  EXPECT_EQ(pairs.at({2, 1}), 6'000);
  EXPECT_EQ(pairs.at({3, 2}), 6'000);
  EXPECT_EQ(pairs.at({2, 0}), 2'000);
  EXPECT_EQ(pairs.at({3, 0}), 2'000);
  EXPECT_EQ(pairs.at({0, 1}), 8'000);
  EXPECT_EQ(pairs.at({0, 2}), 8'000);
  EXPECT_EQ(pairs.at({1, 3}), 8'000);
  EXPECT_EQ(pairs.size(), 9U);
}

TEST(OppositeRings, SendHalfOfARingsBytesEachWay) {
  // 2(P-1)/P of M/2 = 4,000 for P = 4, to both neighbours.
  const Schedule schedule = opposite_rings(alone(4));
  const auto pairs = matrix(schedule, 8'000);
  ASSERT_EQ(pairs.size(), 8U);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(pairs.at({rank, (rank + 1) % 4}), 6'000);
    EXPECT_EQ(pairs.at({(rank + 1) % 4, rank}), 6'000);
  }
}

TEST(OppositeRings, TakeAsManyRoundsAsARing) {
  for (int ranks = 2; ranks <= 33; ++ranks) {
    const Schedule schedule = opposite_rings(alone(ranks));
    EXPECT_EQ(schedule.rounds, 2 * (ranks - 1));
    EXPECT_EQ(schedule.depth, 2 * (ranks - 1));
    EXPECT_EQ(schedule.program(ranks - 1).size(), 8U);
  }
}

TEST(AllToAll, SpreadsThePayloadEvenlyInOneRound) {
  // M/P of 12,000 for P = 4.
  const auto pairs = matrix(all_to_all(alone(4)), 12'000);
  ASSERT_EQ(pairs.size(), 12U);
  for (const auto& [pair, elements] : pairs) EXPECT_EQ(elements, 3'000);
  EXPECT_EQ(all_to_all(alone(4)).rounds, 1);
  EXPECT_EQ(all_to_all(alone(33)).depth, 1);
  EXPECT_EQ(all_to_all(alone(33)).program(17).size(), 2U);
}

TEST(AllToAll, GivesEachRankWhatTheOthersHadForIt) {
  // 7 ranks, an element each: rank i has 100 j + c of rank j, whose number c is i+j.
  const Schedule schedule = all_to_all(alone(7));
  const auto result = executed(schedule, start_values(schedule, 7));
  for (std::size_t i = 0; i < 7; ++i) {
    for (std::size_t j = 0; j < 7; ++j) {
      const std::size_t c = (i + j) % 7;
      EXPECT_EQ(result[i][c], static_cast<double>(100 * j + c));
    }
  }
}

TEST(DoubleTree, GivesNoRankChildrenInBothTrees) {
  for (int ranks = 2; ranks <= 65; ++ranks) {
    const Schedule schedule = double_tree(alone(ranks));
    std::set<std::pair<int, int>> parents;
    for (const Transfer& t : all_transfers(schedule)) {
      if (t.combine == Combine::Sum) parents.emplace(t.to, t.chunk % 2);
    }
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_FALSE(parents.contains({rank, 0}) && parents.contains({rank, 1}))
          << "rank " << rank << " of " << ranks;
    }
  }
}

TEST(DoubleTree, SendsAtMostTwiceThePayloadFromARank) {
  for (int ranks = 2; ranks <= 65; ++ranks) {
    const Schedule schedule = double_tree(alone(ranks));
    EXPECT_LE(count(schedule, evenly(ranks, ranks), 1'000).rank_sent_elements_max, 2'000);
    EXPECT_EQ(schedule.depth, 2 * floor_log2(ranks));
    EXPECT_EQ(schedule.rounds, 2 * floor_log2(ranks));
  }
}

TEST(Ps, StartsServersTimesWorkersTransfersInEachPhase) {
  for (int servers = 1; servers <= 4; ++servers) {
    for (int workers = 1; workers <= 8; ++workers) {
      const Layout layout = evenly(servers + workers, servers + workers);
      const Schedule schedule = ps({.layout = layout, .servers = servers});
      EXPECT_EQ(count(schedule, layout, 1).transfers, 2 * servers * workers);
      EXPECT_EQ(schedule.rounds, 2);
      EXPECT_EQ(schedule.depth, 2);
      EXPECT_EQ(ps({.layout = layout, .servers = servers, .asynchronous = true}).rounds,
                2 * workers);
    }
  }
}

TEST(Ps, MovesAShardEachWayBetweenWorkerAndServer) {
  // 3 workers, 2 servers, 10,000 elements: 5,000 on each of 6 pairs, each way.
  const auto pairs = matrix(ps({.layout = evenly(5, 5), .servers = 2}), 10'000);
  ASSERT_EQ(pairs.size(), 12U);
  for (int worker = 0; worker < 3; ++worker) {
    for (const int server : {3, 4}) {
      EXPECT_EQ(pairs.at({worker, server}), 5'000);
      EXPECT_EQ(pairs.at({server, worker}), 5'000);
    }
  }
}

TEST(PairAveraging, SharesAddUpToOnePayloadForEachPuller) {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    for (int to = 0; to < ranks; ++to) {
      double sum = 0;
      for (int from = 0; from < ranks; ++from) sum += pair_averaging_share(ranks, from, to);
      EXPECT_DOUBLE_EQ(sum, 1);
    }
  }
  EXPECT_EQ(pair_averaging_share(1, 0, 0), 0);
  // Rank 3 of 4 pulls from rank 0, its successor, twice as often as from the others.
  EXPECT_EQ(pair_averaging_share(4, 0, 3), 0.5);
  EXPECT_EQ(pair_averaging_share(4, 3, 0), 0.25);
}

TEST(PairAveraging, DrawsPeersAsOftenAsTheSharesSay) {
  constexpr int kSteps = 10'000;
  std::map<std::pair<int, int>, int> pulls;
  for (int step = 0; step < kSteps; ++step) {
    const Schedule schedule = pair_averaging({.layout = evenly(4, 4), .seed = 1, .step = step});
    for (int rank = 0; rank < 4; ++rank) ++pulls[{schedule.program(rank).front().from, rank}];
  }
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) {
      // Binomial with p = 1/2 or 1/4: deviations of at most 50; five of them either side.
      EXPECT_NEAR((pulls[{from, to}]), kSteps * pair_averaging_share(4, from, to), 250);
    }
  }
}

TEST(PairAveraging, RepeatsItsChoicesForTheSameSeedAndStep) {
  const auto choices = [](std::uint64_t seed, std::int64_t step) {
    return all_transfers(pair_averaging({.layout = evenly(32, 32), .seed = seed, .step = step}));
  };
  EXPECT_EQ(choices(1, 2), choices(1, 2));
  EXPECT_NE(choices(1, 2), choices(1, 3));
  EXPECT_NE(choices(1, 2), choices(2, 2));
}

TEST(Broadcast, CrossesToEachFurtherHostOnce) {
  // 16 ranks, four a host: 0 -> 8, 0 -> 4 and 8 -> 12 leave a host.
  const Layout layout = evenly(16, 4);
  const Count sum = count(broadcast(layout), layout, 10);
  EXPECT_EQ(sum.transfers - sum.local_transfers, 3);
}

TEST(Broadcast, IsProvenAndMovesThePayloadOverEachEdgeOnce) {
  for (int ranks = 1; ranks <= 33; ++ranks) {
    const Schedule schedule = broadcast(evenly(ranks, ranks));
    EXPECT_THAT(faults(schedule), IsEmpty()) << ranks;
    EXPECT_EQ(count(schedule, evenly(ranks, ranks), 10'007).elements, (ranks - 1) * 10'007);
    // ceil(log2 P) = the bits of P-1.
    EXPECT_EQ(schedule.rounds, std::bit_width(static_cast<unsigned>(ranks - 1)));
  }
}

}  // namespace
}  // namespace tw::collective
