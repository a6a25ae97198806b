// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/cursor.h"

#include "trainwire/collective/order.h"
#include "trainwire/collective/test_grid.h"

#include <gmock/gmock.h>

#include <set>
#include <tuple>

namespace tw::collective {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// All strands at once, sorted: what a cursor must walk without doing so.
std::vector<Transfer> sorted(const Schedule& schedule, int rank) {
  std::vector<Transfer> all;
  for (const Strand& strand : schedule.program(rank)) {
    for (std::int64_t i = 0; i < strand.count; ++i) all.push_back(transfer(schedule, strand, i));
  }
  const auto place = [rank](const Transfer& t) {
    const bool receives = t.from != rank;
    return std::tuple(t.round, receives, receives ? t.from : t.to, t.chunk);
  };
  std::sort(all.begin(), all.end(),
            [&](const Transfer& a, const Transfer& b) { return place(a) < place(b); });
  return all;
}

std::vector<Transfer> walked(Cursor cursor) {
  std::vector<Transfer> all;
  for (; !cursor.done(); cursor.advance()) all.push_back(cursor.transfer());
  return all;
}

TEST(Cursor, WalksEveryRankOfEveryStrategyInOrder) {
  for_each_case(17, [](const Case& one) {
    const Schedule schedule = make(one);
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      ASSERT_EQ(walked(Cursor(schedule, rank)), sorted(schedule, rank)) << one.text();
    }
  });
}

TEST(Cursor, OfOnePeerLeavesTheOthersOut) {
  for_each_case(9, [](const Case& one) {
    const Schedule schedule = make(one);
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      for (int peer = 0; peer < schedule.ranks; ++peer) {
        std::vector<Transfer> expected = sorted(schedule, rank);
        std::erase_if(expected, [&](const Transfer& t) { return t.from != peer && t.to != peer; });
        if (peer == rank) expected.clear();
        ASSERT_EQ(walked(Cursor(schedule, rank, peer)), expected) << one.text();
      }
    }
  });
}

/// Strides that no strategy has: backwards, wrapping around, over several peers and chunks.
TEST(Cursor, PutsAnyStrandsInOrder) {
  for (const int stride : {-7, -5, -1, 0, 1, 2, 5, 6, 11}) {
    for (const std::int64_t round_stride : {-2, 0, 1}) {
      const Schedule schedule{.strategy = "none",
                              .goal = Goal::AllReduce,
                              .ranks = 7,
                              .workers = 7,
                              .chunks = 6,
                              .rounds = 40,
                              .depth = 1,
                              .program = [=](int) -> Program {
                                return {{.round = 20,
                                         .from = 3,
                                         .to = 5,
                                         .chunk = 4,
                                         .combine = Combine::Sum,
                                         .count = 6,
                                         .round_stride = round_stride,
                                         .to_stride = stride,
                                         .chunk_stride = 1 - stride},
                                        {.round = 19,
                                         .from = 1,
                                         .to = 3,
                                         .chunk = 2,
                                         .combine = Combine::Replace,
                                         .count = 5,
                                         .round_stride = round_stride,
                                         .chunk_stride = stride}};
                              }};
      EXPECT_EQ(walked(Cursor(schedule, 3)), sorted(schedule, 3)) << stride << ", " << round_stride;
    }
  }
}

TEST(Waits, OfARingAreForTheRoundThatBroughtTheChunk) {
  const Schedule schedule = make_schedule("ring", {.layout = evenly(4, 4)});
  Cursor cursor(schedule, 0);
  // Round 0: sends chunk 0, gets chunk 3 to add; nobody has touched either.
  EXPECT_THAT(cursor.waits(), IsEmpty());
  cursor.advance();
  EXPECT_THAT(cursor.waits(), IsEmpty());
  cursor.advance();
  // Round 1: passes chunk 3 on.
  EXPECT_EQ(cursor.transfer().chunk, 3);
  EXPECT_THAT(cursor.waits(), ElementsAre(Wait{.round = 0, .sends = false}));
}

TEST(Waits, OfARootAreForAllItsChildrenAtOnce) {
  const Schedule schedule = make_schedule("star", {.layout = evenly(5, 5)});
  Cursor cursor(schedule, 0);
  while (!cursor.sends()) cursor.advance();
  EXPECT_THAT(cursor.waits(), ElementsAre(Wait{.round = 0, .sends = false}));
}

/// 2(P-1) transfers each way, in the memory of the four strands: 400,000 steps are a matter of
/// milliseconds, and a list of them would be 13 MB.
TEST(Cursor, WalksARingOfAHundredThousandRanks) {
  constexpr int kRanks = 100'000;
  const Schedule schedule = make_schedule("ring", {.layout = evenly(kRanks, kRanks)});
  Cursor cursor(schedule, 4'711);
  EXPECT_LT(cursor.memory_bytes(), 2'000u);
  std::int64_t transfers = 0;
  std::int64_t waits = 0;
  for (; !cursor.done(); cursor.advance()) {
    ++transfers;
    waits += static_cast<std::int64_t>(cursor.waits().size());
    // What is passed on in round r came in round r - 1.
    if (cursor.sends() && cursor.transfer().round > 0) {
      ASSERT_THAT(cursor.waits(),
                  ElementsAre(Wait{.round = cursor.transfer().round - 1, .sends = false}));
    }
  }
  EXPECT_EQ(transfers, 4 * (kRanks - 1));
  EXPECT_LE(waits, 3 * transfers);
  EXPECT_LT(cursor.memory_bytes(), 2'000u);
}

/// The rule, word by word: may `later` not be swapped with `earlier`?
bool conflict(const Transfer& earlier, const Transfer& later, int rank) {
  const bool share =
      earlier.chunk < later.chunk + later.width && later.chunk < earlier.chunk + earlier.width;
  const bool both_read = earlier.from == rank && later.from == rank;
  return earlier.round < later.round && share && !both_read;
}

/// What a transfer waits for, directly and through others.
std::set<int> all_before(const Order& order, int transfer, std::vector<std::set<int>>& known) {
  std::set<int>& all = known[static_cast<std::size_t>(transfer)];
  for (const int i : order.before(transfer)) {
    all.insert(i);
    all.insert(known[static_cast<std::size_t>(i)].begin(),
               known[static_cast<std::size_t>(i)].end());
  }
  return all;
}

TEST(Order, WaitsForAllThatTouchedTheSameChunksAndForNothingElse) {
  for_each_case(12, [](const Case& one) {
    const Schedule schedule = make(one);
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      const Order order = order_of(schedule, rank);
      std::vector<std::set<int>> known(order.transfers.size());
      for (int i = 0; i < static_cast<int>(order.transfers.size()); ++i) {
        const Transfer& t = order.transfers[static_cast<std::size_t>(i)];
        const std::set<int> before = all_before(order, i, known);
        for (int j = 0; j < i; ++j) {
          const bool conflicts = conflict(order.transfers[static_cast<std::size_t>(j)], t, rank);
          ASSERT_TRUE(!conflicts || before.contains(j)) << one.text() << ", rank " << rank;
        }
        for (const int j : order.before(i)) {
          ASSERT_TRUE(conflict(order.transfers[static_cast<std::size_t>(j)], t, rank));
        }
      }
    }
  });
}

TEST(Order, OfARootHasOneGateForAllChildren) {
  const Schedule schedule = make_schedule("star", {.layout = evenly(2'000, 2'000)});
  const Order order = order_of(schedule, 0);
  EXPECT_EQ(order.transfers.size(), 2u * 1'999);
  ASSERT_EQ(order.gates.size(), 1u);
  EXPECT_EQ(order.gates.front().size(), 1'999u);
}

TEST(Order, GrowsWithTheTransfersOnly) {
  for (const std::string_view name : {"ring", "clique", "ps", "halving_doubling", "double_tree"}) {
    const Schedule schedule = make_schedule(name, {.layout = evenly(1'024, 1'024), .pieces = 16});
    const Order order = order_of(schedule, 1'023);
    std::size_t members = 0;
    for (const auto& gate : order.gates) members += gate.size();
    EXPECT_LE(members, 12 * order.transfers.size()) << name;
  }
}

TEST(Order, OfAnAsynchronousServerWaitsForTheSameWorkerOnly) {
  const Schedule schedule =
      make_schedule("ps", {.layout = evenly(5, 5), .servers = 1, .asynchronous = true});
  for (int worker = 0; worker < 4; ++worker) {
    const Order order = order_of(schedule, 4, worker);
    ASSERT_EQ(order.transfers.size(), 2u);  // its push, then the answer
    EXPECT_THAT(order.before(0), testing::IsEmpty());
    EXPECT_THAT(order.before(1), testing::ElementsAre(0));
  }
}

}  // namespace
}  // namespace tw::collective
