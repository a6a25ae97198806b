// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recover/regroup.h"

#include <gmock/gmock.h>

namespace tw::recover {
namespace {

using ::testing::ElementsAre;

workload::Training job(const std::string& strategy, int ranks, int servers = 1) {
  workload::Training training;
  training.name = "job0";
  training.strategy = strategy;
  training.arrangement.layout = collective::evenly(ranks, ranks);
  training.arrangement.servers = servers;
  training.broadcast = false;
  return training;
}

TEST(Regroup, KeepsTheCircleAndBeginsWithWhoHasTheModel) {
  const Group group = regroup(job("ring", 5), {true, false, true, true, true}, 3);
  EXPECT_THAT(group.members, ElementsAre(3, 4, 0, 2));
  EXPECT_THAT(group.training.arrangement.layout.host_of, ElementsAre(3, 4, 0, 2));
  EXPECT_EQ(group.training.arrangement.layout.hosts, 5);
  EXPECT_TRUE(group.training.broadcast);
  EXPECT_EQ(group.rank_of(2), 3);
  EXPECT_EQ(group.rank_of(1), -1);
}

TEST(Regroup, ServersStayLast) {
  // Workers 0 to 2, servers 3 and 4.
  const Group group = regroup(job("ps", 5, 2), {true, true, true, false, true}, 1);
  EXPECT_THAT(group.members, ElementsAre(1, 2, 0, 4));
  EXPECT_EQ(group.training.workers(), 3);
  EXPECT_EQ(group.training.arrangement.servers, 1);
}

TEST(Regroup, SaysWhatIsMissing) {
  EXPECT_EQ(regroup_problem(job("ring", 2), {false, false}), "no worker is left");
  EXPECT_EQ(regroup_problem(job("ps", 3), {true, true, false}), "no server is left");
  EXPECT_EQ(regroup_problem(job("ps", 3), {false, false, true}), "no worker is left");
  for (const char* strategy : {"ring", "halving_doubling", "tree", "clique", "pair_averaging"}) {
    EXPECT_EQ(regroup_problem(job(strategy, 4), {false, true, true, true}), "") << strategy;
    EXPECT_EQ(regroup_problem(job(strategy, 4), {false, false, true, false}), "") << strategy;
  }
}

}  // namespace
}  // namespace tw::recover
