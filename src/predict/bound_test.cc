// SPDX-License-Identifier: Apache-2.0
#include "trainwire/predict/bound.h"

#include "trainwire/spec/parse.h"
#include "trainwire/spec/scale.h"
#include "trainwire/workload/vocabulary.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tw::predict {
namespace {

using namespace std::chrono_literals;

/// 1,000,000 elements on eight hosts at 1 Gbit/s without delay.
JobPlan plan_of(const std::string& network, const std::string& job) {
  const spec::Experiment e = spec::parse(
      fmt::format("[network]\nhosts = 8\ndelay = \"0s\"\n{}\n[[job]]\nparameters = \"4MB\"\n"
                  "compute = \"none\"\n{}\n",
                  network, job),
      "test.toml", workload::vocabulary());
  return plan(e, e.jobs.front());
}

// A ring of eight sends 2 * 7/8 * 4 MB = 7 MB on each edge, and one edge goes each way over the
// core. On a core of 250 Mbit/s these take 224 ms; on the hosts' links 56 ms.
TEST(ExchangeBound, SeesTheCoreOfADumbbell) {
  const JobPlan slow = plan_of("topology = \"dumbbell\"\ncore_rate = \"250Mbit\"", "");
  EXPECT_EQ(slow.exchange_bound, 224ms);
  EXPECT_EQ(slow.bottleneck->where, "core");
  EXPECT_EQ(slow.bottleneck->bytes, 7_MB);
  const JobPlan fast = plan_of("topology = \"dumbbell\"", "");
  EXPECT_EQ(fast.exchange_bound, 56ms);
  EXPECT_EQ(fast.bottleneck->where, "host0");
}

// In a clique of eight every rank sends 2 * 4 MB / 8 = 1 MB to each other. Four hosts of a leaf
// send 4 * 4 * 1 MB to the other leaf over two spines of 1 Gbit/s: 64 ms; a host sends 7 MB: 56 ms.
TEST(ExchangeBound, SeesAnOversubscribedLeaf) {
  const std::string leaves = "topology = \"leafspine\"\nleaves = 2\nspines = ";
  const JobPlan two = plan_of(leaves + "2", "strategy = \"clique\"");
  ASSERT_EQ(two.step.link_bytes, 7_MB);
  EXPECT_EQ(two.exchange_bound, 64ms);
  EXPECT_EQ(two.bottleneck->where, "leaf0");
  EXPECT_EQ(two.bottleneck->rate, 2_Gbit);
  EXPECT_EQ(plan_of(leaves + "4", "strategy = \"clique\"").exchange_bound, 56ms);
}

// Four spines of 250 Mbit/s would do for the 7 MB that a ring sends from leaf to leaf, but they are
// one flow on one of them: 224 ms. Two connections, 3.5 MB each: 112 ms.
TEST(ExchangeBound, KnowsThatAFlowTakesOneWay) {
  const std::string leaves =
      "topology = \"leafspine\"\nleaves = 2\nspines = 4\ncore_rate = \"250Mbit\"";
  EXPECT_EQ(plan_of(leaves, "").exchange_bound, 224ms);
  EXPECT_EQ(plan_of(leaves, "connections = 2").exchange_bound, 112ms);
  EXPECT_EQ(plan_of(leaves, "connections = 8").exchange_bound, 56ms);
}

// A ring on the two hosts of one edge switch never climbs: core links of 1 Mbit/s do not matter.
TEST(ExchangeBound, LeavesOutLinksThatNothingCrosses) {
  const std::string tree = "topology = \"fattree\"\ncore_rate = \"1Mbit\"\ncore_delay = \"1s\"";
  // 4 MB each way at 1 Gbit/s.
  EXPECT_EQ(plan_of(tree, "hosts = [\"host0\", \"host1\"]").exchange_bound, 32ms);
  // From edge to edge of a pod: two dependent transfers of 2 MB at 1 Mbit/s, 2 s on the way each.
  EXPECT_EQ(plan_of(tree, "hosts = [\"host0\", \"host2\"]").exchange_bound, 36s);
}

// 7 MB at 1 Gbit/s; the last byte still has to cross the link of host 5, whose 30 ms count for
// nobody else's chain.
TEST(ExchangeBound, TakesTheShortestWayOfAnyPair) {
  const JobPlan job = plan_of("[[network.link]]\nat = \"host5\"\ndelay = \"30ms\"", "");
  EXPECT_EQ(job.exchange_bound, 56ms);
}

// Rates and payloads are both divided by 25: 36 elements of rounding at most are 1 us at 40 Mbit/s.
TEST(ExchangeBound, IsTheSameAtEveryScale) {
  const std::string thin = "topology = \"dumbbell\"\ncore_rate = \"250Mbit\"\ndelay = \"2ms\"";
  const spec::Experiment e =
      spec::parse(fmt::format("[network]\n{}\n[[job]]\nparameters = \"4MB\"\ncompute = \"none\"\n"
                              "[run]\nscale = 25\n",
                              thin),
                  "test.toml", workload::vocabulary());
  const spec::Experiment small = spec::scaled(e);
  const JobPlan whole = plan(e, e.jobs[0]), divided = plan(small, small.jobs[0]);
  EXPECT_NEAR(seconds(divided.exchange_bound), seconds(whole.exchange_bound), 10e-6);
  EXPECT_EQ(divided.bottleneck->rate, 10_Mbit);
  EXPECT_EQ(divided.step.total.count(), whole.step.total.count() / 25);
}

TEST(ExchangeBound, OfNothingIsNothing) {
  const JobPlan job = plan_of("", "ranks = 1");
  EXPECT_EQ(job.exchange_bound, Duration::zero());
  EXPECT_FALSE(job.bottleneck.has_value());
}

}  // namespace
}  // namespace tw::predict
