// SPDX-License-Identifier: Apache-2.0
#include "trainwire/regular/tasks.h"

#include "trainwire/collective/order.h"
#include "trainwire/collective/strategies.h"

#include <gtest/gtest.h>

#include <set>

namespace tw::regular {
namespace {

collective::Arrangement on_hosts(int ranks) {
  collective::Arrangement made{.layout = {.hosts = ranks, .host_of = {}}, .pieces = 3};
  for (int i = 0; i < ranks; ++i) made.layout.host_of.push_back(i);
  return made;
}

/// All that a task of a rank waits for, directly or through others.
std::vector<std::set<std::size_t>> all_before(const Tasks& tasks, int rank) {
  std::vector<std::set<std::size_t>> before(tasks.of_rank(rank).size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (const std::uint16_t behind : tasks.behind(tasks.of_rank(rank)[i])) {
      before[behind].insert(i);
      before[behind].insert(before[i].begin(), before[i].end());
    }
  }
  return before;
}

// Whatever collective/order.h lists is waited for, and nothing else but what a connection brings.
TEST(Tasks, WaitForWhatTheOrderSays) {
  for (const char* strategy : {"halving_doubling", "double_tree", "recursive_doubling", "clique"}) {
    for (const int ranks : {2, 5, 8, 13}) {
      const collective::Schedule schedule = collective::make_schedule(strategy, on_hosts(ranks));
      const auto tasks = Tasks::of(schedule);
      ASSERT_TRUE(tasks);
      for (int rank = 0; rank < ranks; ++rank) {
        const collective::Order order = order_of(schedule, rank);
        const auto before = all_before(*tasks, rank);
        ASSERT_EQ(order.transfers.size(), before.size());
        for (std::size_t i = 0; i < before.size(); ++i) {
          const Task& task = tasks->of_rank(rank)[i];
          EXPECT_EQ(task.round, order.transfers[i].round);
          for (const int each : order.before(static_cast<int>(i))) {
            EXPECT_TRUE(before[i].contains(static_cast<std::size_t>(each))) << strategy;
          }
        }
      }
    }
  }
}

TEST(Tasks, BothEndsFindEachOther) {
  const auto tasks = Tasks::of(collective::make_schedule("halving_doubling", on_hosts(11)));
  ASSERT_TRUE(tasks);
  int sends = 0;
  for (int rank = 0; rank < 11; ++rank) {
    for (const Task& task : tasks->of_rank(rank)) {
      if (task.sends == 0) continue;
      ++sends;
      const Task& there = tasks->of_rank(task.peer)[tasks->receive_of(
          task.peer, {.round = task.round, .peer = rank, .chunk = task.chunk})];
      EXPECT_EQ(there.peer, rank);
      EXPECT_EQ(there.chunk, task.chunk);
      EXPECT_EQ(there.width, task.width);
      EXPECT_EQ(there.sends, 0);
    }
  }
  EXPECT_EQ(sends, 2 * 8 * 3 + 2 * 3) << "eight ranks with three partners twice, three extras";
}

// The root of a star with 1,024 others sends and receives 1,024 times each.
TEST(Tasks, AreRefusedWhereOneRankHasTooMany) {
  EXPECT_TRUE(Tasks::of(collective::make_schedule("star", on_hosts(100))));
  EXPECT_FALSE(Tasks::of(collective::make_schedule("star", on_hosts(1025))));
}

}  // namespace
}  // namespace tw::regular
