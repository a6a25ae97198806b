// SPDX-License-Identifier: Apache-2.0
#include "trainwire/network/plan.h"

#include "trainwire/base/error.h"
#include "trainwire/network/test_plans.h"
#include "trainwire/spec/scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace tw::network {
namespace {

using std::chrono::milliseconds;

TEST(Plan, AStarHasTwoPortsPerHost) {
  const NetPlan plan = plan_of("hosts = 3\nrate = \"100Mbit\"\ndelay = \"5ms\"\nqueue = \"1bdp\"");
  ASSERT_EQ(plan.ports.size(), 6);
  EXPECT_EQ(plan.switches, std::vector<std::string>{"switch"});
  EXPECT_EQ(path_text(plan, 2, 0), "host2>switch>host0");
  EXPECT_EQ(plan.path(2, 0), (std::vector<int>{4, 1}));
  EXPECT_TRUE(plan.path(1, 1).empty());
  // 1 bdp: 100 Mbit/s * 20 ms / 8.
  EXPECT_EQ(plan.ports[1].queue, 250'000_B);
}

// TCP takes a drop in its own host's queue for a sign to stop until a timer expires.
TEST(Plan, AHostsOwnQueueHoldsBackRatherThanDrops) {
  const NetPlan plan =
      plan_of("hosts = 2\nrate = \"100Mbit\"\nqueue = \"30KB\"\nallow_shallow_queue = true");
  EXPECT_EQ(plan.ports[0].queue, 1'514'000_B);
  EXPECT_EQ(plan.ports[1].queue, 30'000_B);
}

TEST(Plan, AnOverrideMeansOneDirection) {
  const NetPlan plan = plan_of(
      "hosts = 2\n[[network.link]]\nat = \"host1\"\ndirection = \"to_host\"\nrate = \"500Mbit\"");
  EXPECT_EQ(plan.ports[2].rate, 1_Gbit);
  EXPECT_EQ(plan.ports[3].rate, 500_Mbit);
  EXPECT_EQ(plan.ports[3].from, 2);
  EXPECT_EQ(plan.ports[3].to, 1);
}

TEST(Plan, ADumbbellCrossesItsCore) {
  const NetPlan plan = plan_of("hosts = 4\ntopology = \"dumbbell\"\nleft = 1");
  EXPECT_EQ(path_text(plan, 0, 3), "host0>left>right>host3");
  EXPECT_EQ(path_text(plan, 3, 0), "host3>right>left>host0");
  EXPECT_EQ(path_text(plan, 1, 2), "host1>right>host2");
  EXPECT_EQ(plan.ports[8].link, "core");
}

// Host i hangs on leaf i / 2; the destination's parity chooses the spine.
TEST(Plan, ALeafSpineSpreadsDestinationsOverSpines) {
  const NetPlan plan = plan_of("hosts = 6\ntopology = \"leafspine\"\nleaves = 3\nspines = 2");
  EXPECT_EQ(path_text(plan, 0, 1), "host0>leaf0>host1");
  EXPECT_EQ(path_text(plan, 0, 4), "host0>leaf0>spine0>leaf2>host4");
  EXPECT_EQ(path_text(plan, 0, 5), "host0>leaf0>spine1>leaf2>host5");
  EXPECT_EQ(path_text(plan, 5, 0), "host5>leaf2>spine0>leaf0>host0");
}

TEST(Plan, ScaleDividesRatesAndQueuesAndKeepsTimes) {
  const spec::Vocabulary words{};
  const NetPlan plan = make_plan(spec::scaled(spec::parse(
      "[network]\nrate = \"25Gbit\"\ndelay = \"1ms\"\nqueue = \"25MB\"\n[run]\nscale = 25",
      "x.toml", words, {})));
  EXPECT_EQ(plan.ports[0].rate, 1_Gbit);
  EXPECT_EQ(plan.ports[1].queue, 1_MB);
  EXPECT_EQ(plan.ports[0].delay, milliseconds(1));
}

TEST(Plan, AddressesGoBeyondOneByte) {
  const NetPlan plan = plan_of("hosts = 300");
  EXPECT_EQ(plan.hosts[0].address, "10.77.0.1");
  EXPECT_EQ(plan.hosts[299].address, "10.77.1.44");
  EXPECT_EQ(plan_of("hosts = 2\nip_version = 6").hosts[1].address, "fd77::2");
}

TEST(Plan, OneHostIsANetwork) {
  const NetPlan plan = plan_of("hosts = 1");
  EXPECT_EQ(plan.ports.size(), 2);
  EXPECT_FALSE(plan.lossy());
}

// 16 hosts, 20 switches, 16 + 32 links; broadcasts take each host's link, one link of each of the
// eight edge switches, and one of each of the four pods.
TEST(Plan, OfAFatTreeIsWrittenOutInFull) {
  const NetPlan plan = plan_of("topology = \"fattree\"\nhosts = 16");
  EXPECT_EQ(plan.switches.size(), 20);
  EXPECT_EQ(plan.ports.size(), 96);
  EXPECT_EQ(path_text(plan, 0, 13), "host0>edge0>agg1>core2>agg7>edge6>host13");
  EXPECT_EQ(std::count(plan.floods.begin(), plan.floods.end(), true), 16 + 8 + 4);
}

TEST(Plan, RefusesMoreHostsThanAMachineHolds) { EXPECT_THROW(plan_of("hosts = 1025"), SpecError); }

}  // namespace
}  // namespace tw::network
