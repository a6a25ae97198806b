// SPDX-License-Identifier: Apache-2.0
#include "trainwire/network/limits.h"

#include "trainwire/network/test_networks.h"

#include <gtest/gtest.h>

namespace tw::network {
namespace {

using namespace std::chrono_literals;

Bottleneck slowest(const std::string& keys, const std::vector<Demand>& demands) {
  const Network network = network_of(keys);
  return Limits(network).bottleneck(demands).value();
}

/// Each of the first half of the hosts sends as much to its partner in the second half.
std::vector<Demand> across(int hosts, Bytes bytes) {
  std::vector<Demand> demands;
  for (int i = 0; i < hosts / 2; ++i) demands.push_back({i, i + hosts / 2, bytes});
  return demands;
}

TEST(Bottleneck, IsNobodyWhenNothingMoves) {
  const Network network = network_of("hosts = 4");
  EXPECT_EQ(Limits(network).bottleneck({}), std::nullopt);
}

// Host 2 gets 1 MB from each of three: 3 MB at 1 Gbit/s are 24 ms.
TEST(Bottleneck, OfAStarIsAHostsLink) {
  const Bottleneck found = slowest("hosts = 4", {{0, 2, 1_MB}, {1, 2, 1_MB}, {3, 2, 1_MB}});
  EXPECT_EQ(found.where, "host2");
  EXPECT_EQ(found.direction, Direction::ToHost);
  EXPECT_EQ(found.bytes, 3_MB);
  EXPECT_DOUBLE_EQ(found.seconds(), 0.024);
}

// Four times 1 MB over one core of 500 Mbit/s: 4 MB, 64 ms; each host's own takes 8 ms.
TEST(Bottleneck, OfADumbbellIsItsCore) {
  const Bottleneck found =
      slowest("topology = \"dumbbell\"\nhosts = 8\ncore_rate = \"500Mbit\"", across(8, 1_MB));
  EXPECT_EQ(found.where, "core");
  EXPECT_EQ(found.direction, Direction::FromHost);
  EXPECT_DOUBLE_EQ(found.seconds(), 0.064);
}

// Four hosts of 1 Gbit/s share two spines of 1 Gbit/s: twice as long as their own links need,
// however the flows are spread. Three spines do not divide four flows: the sum still bounds.
TEST(Bottleneck, OfAnOversubscribedLeafIsAllItsLinksTogether) {
  const std::string leaves = "topology = \"leafspine\"\nhosts = 8\nleaves = 2\n";
  const Bottleneck two = slowest(leaves + "spines = 2", across(8, 1_MB));
  EXPECT_EQ(two.where, "leaf0");
  EXPECT_EQ(two.bytes, 4_MB);
  EXPECT_EQ(two.rate, 2_Gbit);
  EXPECT_DOUBLE_EQ(two.seconds(), 0.016);
  EXPECT_DOUBLE_EQ(slowest(leaves + "spines = 3", across(8, 1_MB)).seconds(), 0.032 / 3);
  // With as many spines as hosts nothing is scarce.
  EXPECT_EQ(slowest(leaves + "spines = 4", across(8, 1_MB)).where, "host0");
}

// Eight spines of 100 Mbit/s have 800 together, but one flow is on one of them: 1 MB takes 80 ms,
// as two flows 40 ms. Eight flows could fill all eight, and the sum of 800 Mbit/s is what counts.
TEST(Bottleneck, OfOneFlowIsTheFastestLinkItMayTake) {
  const std::string keys =
      "topology = \"leafspine\"\nhosts = 2\nleaves = 2\nspines = 8\ncore_rate = \"100Mbit\"";
  EXPECT_DOUBLE_EQ(slowest(keys, {{0, 1, 1_MB}}).seconds(), 0.080);
  EXPECT_DOUBLE_EQ(slowest(keys, {{0, 1, 1_MB, 2}}).seconds(), 0.040);
  EXPECT_DOUBLE_EQ(slowest(keys, {{0, 1, 1_MB, 8}}).seconds(), 0.010);
  EXPECT_DOUBLE_EQ(slowest(keys, {{0, 1, 1_MB, 1000}}).seconds(), 0.010);
}

// k = 4 with links above the hosts at a quarter of their rate. Edge 0 has two hosts at 1 Gbit/s and
// two links of 250 Mbit/s up; a pod has four hosts and four links to the cores.
TEST(Bottleneck, OfAFatTreeIsAnEdgeOrAPod) {
  const std::string tree = "topology = \"fattree\"\nhosts = 16\ncore_rate = \"250Mbit\"\n";
  // All of pod 0 to pod 2: 2 MB over 500 Mbit/s at each edge, 4 MB over 1 Gbit/s at the pod.
  const std::vector<Demand> pods{
      {0, 8, 1_MB, 9}, {1, 9, 1_MB, 9}, {2, 10, 1_MB, 9}, {3, 11, 1_MB, 9}};
  EXPECT_DOUBLE_EQ(slowest(tree, pods).seconds(), 0.032);
  EXPECT_EQ(slowest(tree, pods).where, "edge0");
  // Half of the pod's links to the cores at a tenth: 4 MB over 550 Mbit/s.
  const std::string worn = tree +
                           "[[network.link]]\nat = \"agg0-core0\"\nrate = \"25Mbit\"\n"
                           "[[network.link]]\nat = \"agg1-core3\"\nrate = \"25Mbit\"\n";
  EXPECT_EQ(slowest(worn, pods).where, "pod0");
  EXPECT_DOUBLE_EQ(slowest(worn, pods).seconds(), 32e6 / 550e6);
  // Inside the pod the cores do not matter: 1 MB over two links of 250 Mbit/s.
  EXPECT_DOUBLE_EQ(slowest(worn, {{0, 2, 1_MB, 9}}).seconds(), 0.016);
}

TEST(Limits, KnowTheQuickestWay) {
  const Network network = network_of(
      "topology = \"leafspine\"\nhosts = 4\nspines = 2\nrate = \"10Gbit\"\ncore_rate = \"1Gbit\"\n"
      "delay = \"10us\"\ncore_delay = \"100us\"\n[[network.link]]\nat = \"leaf0-spine1\"\n"
      "direction = \"from_host\"\nrate = \"4Gbit\"\ndelay = \"20us\"");
  Limits limits(network);
  EXPECT_EQ(limits.fastest(0, 1), 10_Gbit);
  // Up on 4 Gbit/s, but down on 1.
  EXPECT_EQ(limits.fastest(0, 2), 1_Gbit);
  EXPECT_EQ(limits.least_delay(0, 1), 20us);
  EXPECT_EQ(limits.least_delay(0, 2), 10us + 20us + 100us + 10us);
  EXPECT_EQ(limits.least_delay(2, 0), 10us + 100us + 100us + 10us);
}

}  // namespace
}  // namespace tw::network
