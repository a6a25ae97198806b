// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/count.h"

#include "trainwire/collective/test_grid.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

namespace tw::collective {
namespace {

struct PairSum {
  std::int64_t elements = 0;
  std::int64_t transfers = 0;

  bool operator==(const PairSum&) const = default;
};

using PairSums = std::map<std::pair<int, int>, PairSum>;

std::int64_t elements_of(const Schedule& schedule, const Transfer& t, std::int64_t elements) {
  return chunk_begin(elements, schedule.chunks, t.chunk + t.width) -
         chunk_begin(elements, schedule.chunks, t.chunk);
}

/// What count() must say, one transfer at a time.
Count counted_by_walking(const Schedule& schedule, const std::vector<Transfer>& transfers,
                         const Layout& layout, std::int64_t elements) {
  const auto hosts = static_cast<std::size_t>(layout.hosts);
  Count sum{.host_sent_elements = std::vector<std::int64_t>(hosts),
            .host_received_elements = std::vector<std::int64_t>(hosts)};
  std::vector<std::int64_t> sent(static_cast<std::size_t>(schedule.ranks));
  for (const Transfer& t : transfers) {
    const std::int64_t size = elements_of(schedule, t, elements);
    const bool local = layout.host(t.from) == layout.host(t.to);
    sum.transfers += 1;
    sum.elements += size;
    sum.local_transfers += local ? 1 : 0;
    sum.local_elements += local ? size : 0;
    sent[static_cast<std::size_t>(t.from)] += size;
    if (local) continue;
    sum.host_sent_elements[static_cast<std::size_t>(layout.host(t.from))] += size;
    sum.host_received_elements[static_cast<std::size_t>(layout.host(t.to))] += size;
  }
  sum.rank_sent_elements_max = *std::max_element(sent.begin(), sent.end());
  return sum;
}

void expect_equal(const Count& a, const Count& b, const std::string& text) {
  EXPECT_EQ(a.transfers, b.transfers) << text;
  EXPECT_EQ(a.elements, b.elements) << text;
  EXPECT_EQ(a.local_transfers, b.local_transfers) << text;
  EXPECT_EQ(a.local_elements, b.local_elements) << text;
  EXPECT_EQ(a.rank_sent_elements_max, b.rank_sent_elements_max) << text;
  EXPECT_EQ(a.host_sent_elements, b.host_sent_elements) << text;
  EXPECT_EQ(a.host_received_elements, b.host_received_elements) << text;
}

PairSums pairs_of(const Schedule& schedule, const Layout& layout, std::int64_t elements) {
  PairSums sums;
  std::pair<int, int> last{-1, -1};
  for_each_host_pair(schedule, layout, elements,
                     [&](int from, int to, std::int64_t size, std::int64_t transfers) {
                       EXPECT_LT(last, std::pair(from, to)) << "pairs come in order, each once";
                       last = {from, to};
                       sums[last] = {size, transfers};
                     });
  return sums;
}

PairSums pairs_by_walking(const Schedule& schedule, const std::vector<Transfer>& transfers,
                          const Layout& layout, std::int64_t elements) {
  PairSums sums;
  for (const Transfer& t : transfers) {
    const std::pair hosts(layout.host(t.from), layout.host(t.to));
    if (hosts.first == hosts.second) continue;
    sums[hosts].elements += elements_of(schedule, t, elements);
    sums[hosts].transfers += 1;
  }
  return sums;
}

TEST(Count, EqualsTheSumOverAllTransfers) {
  for_each_case(20, [](const Case& one) {
    const Schedule schedule = make(one);
    const std::vector<Transfer> transfers = all_transfers(schedule);
    const Layout& layout = one.arrangement.layout;
    for (const std::int64_t elements : kPayloads) {
      expect_equal(count(schedule, layout, elements),
                   counted_by_walking(schedule, transfers, layout, elements), one.text());
    }
  });
}

TEST(HostPairs, EqualTheSumsOverAllTransfers) {
  for_each_case(17, [](const Case& one) {
    const Schedule schedule = make(one);
    const Layout& layout = one.arrangement.layout;
    EXPECT_EQ(pairs_of(schedule, layout, 10'007),
              pairs_by_walking(schedule, all_transfers(schedule), layout, 10'007))
        << one.text();
  });
}

TEST(Flows, AreTheRankPairsThatCrossHosts) {
  for_each_case(17, [](const Case& one) {
    const Schedule schedule = make(one);
    const Layout& layout = one.arrangement.layout;
    std::set<std::pair<int, int>> flows;
    for (const Transfer& t : all_transfers(schedule)) {
      if (layout.host(t.from) != layout.host(t.to)) flows.emplace(t.from, t.to);
    }
    std::int64_t one_way = 0;
    for (const auto& [from, to] : flows) one_way += flows.contains({to, from}) ? 0 : 1;
    const Flows counted = collective::flows(schedule, layout);
    EXPECT_EQ(counted.gradient, static_cast<std::int64_t>(flows.size())) << one.text();
    EXPECT_EQ(counted.acknowledgement, one_way) << one.text();
  });
}

TEST(Flows, OfFourHostsAreThoseThatWereMeasured) {
  const Arrangement four{.layout = evenly(4, 4)};
  // A ring has one per rank, a tree two per edge, a clique one per ordered pair.
  EXPECT_EQ(flows(ring(four), four.layout).gradient, 4);
  EXPECT_EQ(flows(binary_tree_star(four), four.layout).gradient, 6);
  EXPECT_EQ(flows(tree(four), four.layout).gradient, 6);
  EXPECT_EQ(flows(clique(four), four.layout).gradient, 12);
}

TEST(StrandElements, AgreeWithAWalkForAnyStrideAndWidth) {
  for (const int chunks : {1, 2, 5, 12, 13}) {
    Schedule schedule = ring({.layout = evenly(3, 3)});
    schedule.chunks = chunks;
    for (int stride = -2 * chunks; stride <= 2 * chunks; ++stride) {
      for (const std::int64_t count : {0, 1, 2, 7, 30}) {
        const Strand strand{.round = 0,
                            .from = 0,
                            .to = 1,
                            .chunk = chunks - 1,
                            .combine = Combine::Sum,
                            .count = count,
                            .chunk_stride = stride};
        std::int64_t expected = 0;
        for (std::int64_t i = 0; i < count; ++i) {
          expected += elements_of(schedule, transfer(schedule, strand, i), 10'007);
        }
        EXPECT_EQ(strand_elements(schedule, strand, 10'007), expected)
            << chunks << " chunks, stride " << stride << ", count " << count;
      }
    }
  }
}

TEST(StrandElements, RefuseANegativePayload) {
  const Schedule schedule = ring({.layout = evenly(3, 3)});
  EXPECT_THROW(strand_elements(schedule, schedule.program(0).front(), -1), std::logic_error);
}

TEST(Count, RefusesALayoutOfOtherSize) {
  EXPECT_THROW(count(ring({.layout = evenly(3, 3)}), evenly(4, 4), 1), std::logic_error);
}

TEST(Count, WalksPeersThatAdvanceByMoreThanOneRank) {
  // Rank 0 sends one chunk each to ranks 1, 3 and 5. Ranks 0 and 1 share host 0, 2 and 3 host 1, 4
  // and 5 host 2: one transfer is local, two cross.
  const auto program = [](int rank) {
    Strand strand{.round = 0, .from = 0, .to = 1, .chunk = 0, .combine = Combine::Sum};
    if (rank == 0) {
      strand.count = 3;
      strand.to_stride = 2;
      return Program{strand};
    }
    strand.to = rank;
    return rank % 2 == 1 ? Program{strand} : Program{};
  };
  const Schedule schedule{.strategy = "test",
                          .goal = Goal::AllReduce,
                          .ranks = 6,
                          .workers = 6,
                          .chunks = 1,
                          .rounds = 1,
                          .depth = 1,
                          .program = program};
  const Layout layout = evenly(6, 3);
  expect_equal(count(schedule, layout, 10),
               counted_by_walking(schedule, all_transfers(schedule), layout, 10), "stride 2");
  EXPECT_EQ(count(schedule, layout, 10).local_transfers, 1);
  EXPECT_EQ(flows(schedule, layout).gradient, 2);
}

TEST(Count, TakesAHundredThousandRanks) {
  constexpr std::int64_t kRanks = all_or_quarter(100'000);
  constexpr std::int64_t kElements = 25'557'032;
  const Arrangement arrangement{.layout = evenly(kRanks, kRanks)};
  for (const char* name : {"ring", "hierarchical", "star", "clique", "binary_tree_star",
                           "halving_doubling", "double_tree"}) {
    const Count sum = count(make_schedule(name, arrangement), arrangement.layout, kElements);
    EXPECT_EQ(sum.elements, 2 * (kRanks - 1) * kElements) << name;
    EXPECT_EQ(sum.local_transfers, 0) << name;
  }
  // Ring and clique: each rank sends 2(P-1) chunks.
  EXPECT_EQ(count(ring(arrangement), arrangement.layout, kElements).transfers,
            2 * kRanks * (kRanks - 1));
  EXPECT_EQ(flows(clique(arrangement), arrangement.layout).gradient, kRanks * (kRanks - 1));
}

TEST(Count, TakesAHundredThousandRanksOfEightOnAHost) {
  constexpr std::int64_t kRanks = 100'000;
  const Arrangement arrangement{.layout = evenly(kRanks, kRanks / 8)};
  // Each rank sends 2 chunks to each of the 7 others on its host.
  const Count sum = count(clique(arrangement), arrangement.layout, kRanks);
  EXPECT_EQ(sum.local_transfers, 2 * 7 * kRanks);
  EXPECT_EQ(sum.local_elements, 2 * 7 * kRanks);
  EXPECT_EQ(sum.host_sent_elements.front(), 8 * 2 * (kRanks - 8));
}

TEST(HostPairs, OfALargeRingAreItsEdges) {
  constexpr int kRanks = 100'000;
  const Arrangement arrangement{.layout = evenly(kRanks, kRanks)};
  std::int64_t pairs = 0;
  std::int64_t elements = 0;
  for_each_host_pair(ring(arrangement), arrangement.layout, 25'557'032,
                     [&](int from, int to, std::int64_t size, std::int64_t transfers) {
                       pairs += to == (from + 1) % kRanks ? 1 : 0;
                       elements += size;
                       EXPECT_EQ(transfers, 2 * (kRanks - 1));
                     });
  EXPECT_EQ(pairs, kRanks);
  EXPECT_EQ(elements, 2LL * (kRanks - 1) * 25'557'032);
}

}  // namespace
}  // namespace tw::collective
