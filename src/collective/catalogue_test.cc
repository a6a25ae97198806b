// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/strategies.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace tw::collective {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Arrangement four_ranks() { return {.layout = evenly(4, 4)}; }

TEST(Catalogue, ListsTheStrategiesByName) {
  std::vector<std::string_view> names;
  for (const Strategy& strategy : catalogue()) names.push_back(strategy.name);
  EXPECT_THAT(names, ElementsAre("ring", "hierarchical", "tree", "star", "clique",
                                 "binary_tree_star", "halving_doubling", "folded_halving_doubling",
                                 "recursive_doubling", "reduce_broadcast", "opposite_rings",
                                 "double_tree", "ps", "pair_averaging", "all_to_all", "broadcast"));
}

TEST(Catalogue, NamesItsSchedulesAlike) {
  for (const Strategy& strategy : catalogue()) {
    EXPECT_EQ(make_schedule(strategy.name, four_ranks()).strategy, strategy.name);
    EXPECT_FALSE(strategy.summary.empty() || strategy.rounds.empty() || strategy.bytes.empty());
  }
}

TEST(Catalogue, FindsStrategiesByName) {
  EXPECT_EQ(find_strategy("ring"), &catalogue().front());
  EXPECT_EQ(find_strategy("rnig"), nullptr);
  EXPECT_EQ(strategy("ps").operation, Operation::ParameterServer);
  EXPECT_THROW(strategy("rnig"), std::logic_error);
  for (const Strategy& row : catalogue()) EXPECT_EQ(&strategy(row.make), &row);
  EXPECT_EQ(strategy(broadcast).operation, Operation::Broadcast);
}

TEST(Catalogue, KnowsRingsAndTrees) {
  EXPECT_EQ(shape_of("ring"), Shape::Ring);
  EXPECT_EQ(shape_of("binary_tree_star"), Shape::Tree);
  EXPECT_EQ(shape_of("clique"), Shape::Any);
  EXPECT_EQ(shape_of("unknown"), Shape::Any);
}

TEST(Catalogue, NamesOperationsAsDocumentsDo) {
  EXPECT_EQ(name_of(Operation::AllReduce), "all_reduce");
  EXPECT_EQ(name_of(Operation::ParameterServer), "parameter_server");
  EXPECT_EQ(name_of(Operation::PairAveraging), "pair_averaging");
  EXPECT_EQ(name_of(Operation::AllToAll), "all_to_all");
  EXPECT_EQ(name_of(Operation::Broadcast), "step_broadcast");
}

TEST(BusFactor, IsThatOfNcclTests) {
  EXPECT_EQ(bus_factor(Operation::AllReduce, 4), 1.5);
  EXPECT_EQ(bus_factor(Operation::AllToAll, 4), 0.75);
  EXPECT_EQ(bus_factor(Operation::Broadcast, 4), 1);
}

TEST(Problem, IsNoneForFourRanksOnFourHosts) {
  for (const Strategy& strategy : catalogue()) {
    EXPECT_EQ(problem(strategy.name, four_ranks()), "") << strategy.name;
  }
}

TEST(Problem, NamesTheNearestStrategy) {
  EXPECT_EQ(problem("rnig", four_ranks()), "no strategy is called 'rnig'; did you mean 'ring'?");
  EXPECT_THAT(problem("quantum", four_ranks()), HasSubstr("choose one of ring, hierarchical"));
}

TEST(Problem, NeedsARankAndAHost) {
  EXPECT_EQ(problem("ring", {.layout = evenly(0, 3)}),
            "the job has no ranks; give it at least one");
  EXPECT_EQ(problem("ring", {.layout = {.hosts = 0, .host_of = {}}}),
            "the layout has no hosts; give the job at least one");
}

TEST(Problem, NamesARankOutsideOfTheHosts) {
  EXPECT_EQ(problem("tree", {.layout = {.hosts = 2, .host_of = {0, 2}}}),
            "rank 1 is placed on host 2; place it on one of the hosts 0 to 1");
  EXPECT_THAT(problem("ps", {.layout = {.hosts = 2, .host_of = {-1, 1}}}), HasSubstr("rank 0"));
}

TEST(Problem, LeavesAWorkerBesideTheServers) {
  EXPECT_EQ(problem("ps", {.layout = evenly(4, 4), .servers = 4}),
            "a parameter server with 4 servers needs at least 5 ranks, not 4; add ranks or take "
            "fewer servers");
  EXPECT_EQ(problem("ps", {.layout = evenly(4, 4), .servers = 0}),
            "a parameter server needs servers, not 0; set at least 1");
  EXPECT_EQ(problem("ps", {.layout = evenly(1, 1)}),
            "a parameter server with 1 server needs at least 2 ranks, not 1; add ranks or take "
            "fewer servers");
  EXPECT_EQ(problem("ring", {.layout = evenly(1, 1), .servers = 0}), "");
}

TEST(Problem, NeedsAPieceWherePiecesAreCut) {
  for (const char* name : {"tree", "star", "binary_tree_star", "double_tree"}) {
    EXPECT_THAT(problem(name, {.layout = evenly(4, 4), .pieces = 0}),
                HasSubstr("set between 1 and"));
  }
  EXPECT_THAT(problem("star", {.layout = evenly(4, 4), .pieces = 1 << 21}), HasSubstr("2097152"));
  EXPECT_EQ(problem("ring", {.layout = evenly(4, 4), .pieces = 0}), "");
}

TEST(MakeSchedule, RefusesWhatHasAProblem) {
  EXPECT_THROW(make_schedule("rnig", four_ranks()), std::logic_error);
  EXPECT_THROW(make_schedule("ps", {.layout = evenly(1, 1)}), std::logic_error);
}

}  // namespace
}  // namespace tw::collective
