// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/one_side.h"

#include "trainwire/diagnose/analysis.h"
#include "trainwire/diagnose/test_analysis.h"
#include "trainwire/gather/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tw::diagnose {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// What a capture on `host` holds of the traffic.
gather::Captured seen_on(int host, gather::Captured traffic) {
  const auto address = static_cast<std::uint32_t>(host + 1);
  std::erase_if(traffic.flows, [&](const flow::Flow& flow) {
    return flow.key.source != address && flow.key.destination != address;
  });
  return traffic;
}

/// A message of a few bytes, once: two ranks that know each other.
void connect(gather::Captured& traffic, int from, int to) {
  flow::PairCount pair{.source = static_cast<std::uint32_t>(from + 1),
                       .destination = static_cast<std::uint32_t>(to + 1)};
  pair.packets = 1;
  pair.stream_bytes = 100;
  traffic.pairs.push_back(pair);
}

std::optional<int> witness_of(const gather::Captured& traffic) {
  return recognise::only_witness(traffic, gather::host_table(traffic, {}).host_of);
}

TEST(OnlyWitness, IsTheHostThatAllPayloadTouches) {
  const gather::Captured ring = rhythm::play({.strategy = "ring", .placement = {0, 1, 2, 3}});
  EXPECT_FALSE(witness_of(ring));
  // Host 2 has number 1: its capture knows hosts 1, 2 and 3 alone.
  EXPECT_EQ(witness_of(seen_on(2, ring)), 1);
}

TEST(OnlyWitness, IsNobodyOfTwoHostsOrTwoFiles) {
  EXPECT_FALSE(witness_of(rhythm::play({.strategy = "ring", .placement = {0, 1}})));
  gather::Captured ring = seen_on(2, rhythm::play({.strategy = "ring", .placement = {0, 1, 2, 3}}));
  ring.files.resize(2);
  ring.files[1].view = 1;
  EXPECT_FALSE(witness_of(ring));
}

TEST(AnalyseOneSide, FindsTheStepsOfEveryStrategyAndNamesNone) {
  for (const std::string strategy : {"ring", "halving_doubling", "clique", "double_tree"}) {
    SCOPED_TRACE(strategy);
    const rhythm::PlayedJob job{.strategy = strategy, .placement = {0, 1, 2, 3, 4, 5, 6, 7}};
    const Analysis found = analyse(seen_on(4, rhythm::play(job)));
    EXPECT_EQ(found.iterations.steps.size(), 15);
    EXPECT_TRUE(found.collectives.empty());
    EXPECT_FALSE(found.model_bytes);
    EXPECT_FALSE(found.straggler);
    EXPECT_THAT(found.quality.reasons, Contains(HasSubstr("one side")));
    EXPECT_THAT(found.findings[0].text, HasSubstr("does not show from one side"));
  }
}

// Five hosts: each sends 2 * 4/5 of the model in a step.
TEST(AnalyseOneSide, GuessesTheModelOfARingWhereItKnowsTheOthers) {
  const rhythm::PlayedJob job{.strategy = "ring", .placement = {0, 1, 2, 3, 4}};
  gather::Captured traffic = seen_on(2, rhythm::play(job));
  connect(traffic, 2, 0);
  connect(traffic, 2, 4);
  const Analysis found = analyse(traffic);
  EXPECT_NEAR(model_error(found, job), 0, 0.01);
  EXPECT_TRUE(found.collectives.empty());
  EXPECT_THAT(found.findings[0].text, HasSubstr("a ring of the 5 hosts"));
}

/// What captures on two hosts hold of the traffic.
gather::Captured seen_on_both(int one, int other, gather::Captured traffic) {
  std::erase_if(traffic.flows, [&](const flow::Flow& flow) {
    const auto is_seen = [&](std::uint32_t address) {
      return static_cast<int>(address) == one + 1 || static_cast<int>(address) == other + 1;
    };
    return !is_seen(flow.key.source) && !is_seen(flow.key.destination);
  });
  traffic.files.resize(2);
  traffic.files[1].view = 1;
  return traffic;
}

TEST(AnalyseOneSide, TwoOfFourHostsShowARingWhereOneKnowsAll) {
  const rhythm::PlayedJob job{.strategy = "ring", .placement = {0, 2, 1, 3}};
  gather::Captured traffic = seen_on_both(2, 1, rhythm::play(job));
  connect(traffic, 2, 3);
  const Analysis found = analyse(traffic);
  ASSERT_FALSE(found.collectives.empty());
  EXPECT_EQ(found.collectives[0].strategy, "ring");
  EXPECT_EQ(found.collectives[0].order.size(), 4u);
  EXPECT_NEAR(model_error(found, job), 0, 0.01);
  EXPECT_THAT(found.collectives[0].evidence, HasSubstr("of one edge nobody's packets are there"));
}

// Of two neighbours the ring's other edges are missing, and of a clique most of it: their own side still has steps.
TEST(AnalyseOneSide, TwoCapturesOfManyAreWorthOne) {
  for (const std::string strategy : {"ring", "clique", "double_tree"}) {
    SCOPED_TRACE(strategy);
    const Analysis found = analyse(seen_on_both(
        3, 4, rhythm::play({.strategy = strategy, .placement = {0, 1, 2, 3, 4, 5, 6, 7}})));
    EXPECT_EQ(found.iterations.steps.size(), 15);
    EXPECT_TRUE(found.collectives.empty());
  }
}

// A root has received everything when it sends: all there is may well be what is seen.
TEST(AnalyseOneSide, TakesACentreThatOnlyAnswersForTheCentreOfAStar) {
  const rhythm::PlayedJob job{.strategy = "star", .placement = {0, 1, 2, 3, 4}};
  const Analysis found = analyse(seen_on(0, rhythm::play(job)));
  ASSERT_FALSE(found.collectives.empty());
  EXPECT_EQ(found.collectives[0].strategy, "star");
}

}  // namespace
}  // namespace tw::diagnose
