// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/links.h"

#include "trainwire/spec/test_experiments.h"

#include <gtest/gtest.h>

namespace tw::spec {
namespace {

using namespace std::chrono_literals;

Network network(const std::string& text) { return parsed("[network]\n" + text).network; }

TEST(HostLink, TakesOverridesOfItsDirection) {
  const Network n = network(R"(
rate = "1Gbit"
[[network.link]]
at = "host0"
direction = "to_host"
rate = "500Mbit"
[[network.link]]
at = "host0"
loss = "1%"
)");
  EXPECT_EQ(*host_link(n, 0, Direction::ToHost).rate, BitRate(5e8));
  EXPECT_EQ(*host_link(n, 0, Direction::FromHost).rate, BitRate(1e9));
  EXPECT_EQ(*host_link(n, 0, Direction::FromHost).loss, 0.01);
  EXPECT_EQ(host_link(n, 1, Direction::ToHost), n.link);
}

TEST(CoreLink, TakesTheCoreRateUnlessOverridden) {
  const Network n = network(R"(
topology = "leafspine"
core_rate = "40Gbit"
[[network.link]]
at = "leaf1-spine0"
rate = "10Gbit"
)");
  EXPECT_EQ(*core_link(n, "leaf0-spine0", Direction::FromHost).rate, BitRate(4e10));
  EXPECT_EQ(*core_link(n, "leaf1-spine0", Direction::FromHost).rate, BitRate(1e10));
  EXPECT_THROW(core_link(n, "leaf2-spine0", Direction::FromHost), std::logic_error);
}

TEST(IsCoreLink, KnowsTheSwitchesOfEachTopology) {
  EXPECT_FALSE(is_core_link(network("topology = \"star\""), "core"));
  EXPECT_TRUE(is_core_link(network("topology = \"dumbbell\""), "core"));
  const Network fabric = network("topology = \"leafspine\"\nleaves = 2\nspines = 3");
  EXPECT_TRUE(is_core_link(fabric, "leaf1-spine2"));
  EXPECT_FALSE(is_core_link(fabric, "leaf2-spine0"));
  EXPECT_FALSE(is_core_link(fabric, "spine0-leaf0"));
}

// k = 4 holds 16 hosts: 8 edge and 8 aggregation switches, two of each in a pod, and 4 cores. The
// first aggregation switch of a pod reaches cores 0 and 1, the second 2 and 3.
TEST(IsCoreLink, KnowsTheWiringOfAFatTree) {
  const Network tree = network("topology = \"fattree\"\nhosts = 16");
  EXPECT_TRUE(is_core_link(tree, "edge7-agg6"));
  EXPECT_FALSE(is_core_link(tree, "edge7-agg5"));
  EXPECT_FALSE(is_core_link(tree, "edge8-agg8"));
  EXPECT_TRUE(is_core_link(tree, "agg7-core3"));
  EXPECT_FALSE(is_core_link(tree, "agg7-core1"));
  EXPECT_FALSE(is_core_link(tree, "agg0-core4"));
}

TEST(FatTreePods, IsTheSmallestEvenNumberThatHoldsTheHosts) {
  EXPECT_EQ(fat_tree_pods(1), 2);
  EXPECT_EQ(fat_tree_pods(2), 2);
  EXPECT_EQ(fat_tree_pods(3), 4);
  EXPECT_EQ(fat_tree_pods(16), 4);
  EXPECT_EQ(fat_tree_pods(17), 6);
  // 160^3/4 = 1,024,000 and 158^3/4 < 1,000,000.
  EXPECT_EQ(fat_tree_pods(1'000'000), 160);
}

// Every path has two host links each way, and 0, 1, 2 or 4 core links.
TEST(LongestRoundTrip, CountsTheLinksOfTheLongestPath) {
  const std::string delays = "delay = \"10us\"\ncore_delay = \"100us\"\n";
  EXPECT_EQ(longest_round_trip(network(delays)), 40us);
  EXPECT_EQ(longest_round_trip(network(delays + "topology = \"dumbbell\"")), 240us);
  EXPECT_EQ(longest_round_trip(network(delays + "topology = \"leafspine\"")), 440us);
  EXPECT_EQ(longest_round_trip(network(delays + "topology = \"leafspine\"\nleaves = 1")), 40us);
  EXPECT_EQ(longest_round_trip(network(delays + "topology = \"fattree\"\nhosts = 16")), 840us);
  // Four of 16: one pod. Two of 16 do not occur: two hosts make a tree of k = 2 with one host per
  // pod.
  EXPECT_EQ(longest_round_trip(network(delays + "topology = \"fattree\"\nhosts = 3")), 440us);
  EXPECT_EQ(longest_round_trip(network(delays + "topology = \"fattree\"\nhosts = 2")), 840us);
}

TEST(LongestRoundTrip, CountsOverriddenDelays) {
  const std::string far = "delay = \"10us\"\n[[network.link]]\nat = \"host1\"\ndelay = \"1ms\"\n";
  // Both ways of host1's link and of one usual link.
  EXPECT_EQ(longest_round_trip(network(far)), 2020us);
  EXPECT_EQ(longest_round_trip(network(far + "direction = \"to_host\"")), 1030us);
  EXPECT_EQ(longest_round_trip(network("hosts = 1\ndelay = \"10us\"")), 40us);
  EXPECT_EQ(longest_round_trip(network("topology = \"dumbbell\"\ndelay = \"10us\"\n"
                                       "[[network.link]]\nat = \"core\"\ndelay = \"1ms\"")),
            2040us);
}

TEST(QueueBytes, IsTheGivenSizeOrAMultipleOfTheProduct) {
  // 1 Gbit/s x 200 us = 25,000 bytes.
  const Network one = network("queue = \"1bdp\"");
  EXPECT_EQ(queue_bytes(one, one.link), Bytes(25'000));
  const Network deep = network("queue = \"2.5bdp\"");
  EXPECT_EQ(queue_bytes(deep, deep.link), Bytes(62'500));
  const Network fixed = network("queue = \"256KiB\"");
  EXPECT_EQ(queue_bytes(fixed, fixed.link), 256_KiB);
}

TEST(QueueBytes, HoldsAtLeastTwoPackets) {
  const Network instant = network("delay = 0\nqueue = \"1bdp\"");
  EXPECT_EQ(queue_bytes(instant, instant.link), Bytes(2 * 1514));
}

// Hundreds of kilobytes, as switches have; more where the delay needs it; some packets when scaled.
TEST(QueueBytes, IsByDefaultWhatASwitchHas) {
  const Network usual = network("");
  EXPECT_EQ(queue_bytes(usual, usual.link), 256_KiB);
  const Network wide = network("delay = \"10ms\"");
  EXPECT_EQ(queue_bytes(wide, wide.link), Bytes(5'000'000));
  const Network small = network("queue = \"max(1bdp, 4KiB)\"\nrate = \"10Mbit\"");
  EXPECT_EQ(queue_bytes(small, small.link), Bytes(20 * 1514));
}

TEST(QueueBytes, StaysWithinTheLargestSize) {
  const Network absurd = network("rate = \"1000Tbit\"\ndelay = \"2400h\"\nqueue = \"1000000bdp\"");
  EXPECT_EQ(queue_bytes(absurd, absurd.link), Bytes(std::int64_t{1} << 50));
}

}  // namespace
}  // namespace tw::spec
