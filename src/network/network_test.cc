// SPDX-License-Identifier: Apache-2.0
#include "trainwire/network/network.h"

#include "trainwire/network/test_networks.h"
#include "trainwire/spec/scale.h"

#include <gtest/gtest.h>

namespace tw::network {
namespace {

using namespace std::chrono_literals;

TEST(Network, APortIsOneDirectionOfALink) {
  const Network network = network_of(
      "hosts = 2\ndelay = \"5ms\"\nrate = \"100Mbit\"\nqueue = \"1bdp\"\n[[network.link]]\nat = "
      "\"host1\"\n"
      "direction = \"to_host\"\nrate = \"50Mbit\"\nloss = \"1%\"");
  const Port up = network.port(2);
  EXPECT_EQ(up.link, "host1");
  EXPECT_EQ(up.direction, Direction::FromHost);
  EXPECT_EQ(up.from, 1);
  EXPECT_EQ(up.to, 2);
  EXPECT_EQ(up.rate, 100_Mbit);
  // 1 bdp: 100 Mbit/s * 20 ms / 8.
  EXPECT_EQ(up.queue, 250'000_B);
  const Port down = network.port(3);
  EXPECT_EQ(down.direction, Direction::ToHost);
  EXPECT_EQ(down.from, 2);
  EXPECT_EQ(down.to, 1);
  EXPECT_EQ(down.rate, 50_Mbit);
  EXPECT_EQ(down.loss, 0.01);
  EXPECT_EQ(down.queue, 125'000_B);
}

TEST(Network, OverridesOfOneLinkAddUp) {
  const Network network = network_of(
      "topology = \"leafspine\"\nhosts = 4\ncore_rate = \"40Gbit\"\n"
      "[[network.link]]\nat = \"leaf1-spine0\"\nrate = \"10Gbit\"\n"
      "[[network.link]]\nat = \"leaf1-spine0\"\ndirection = \"from_host\"\ndelay = \"1ms\"");
  // Links: four hosts, then leaf0-spine0, leaf1-spine0, ...
  EXPECT_EQ(network.link_name(5), "leaf1-spine0");
  EXPECT_EQ(network.request(8).rate, 40_Gbit);
  EXPECT_EQ(network.request(10).rate, 10_Gbit);
  EXPECT_EQ(network.request(11).rate, 10_Gbit);
  EXPECT_EQ(network.request(10).delay, 1ms);
  EXPECT_EQ(network.request(11).delay, 50us);
}

TEST(Network, OfAScaledExperimentIsSlowerAndAsFarApart) {
  const spec::Experiment fast = spec::parse(
      "[network]\nrate = \"25Gbit\"\ndelay = \"1ms\"\nqueue = \"25MB\"\n[run]\nscale = 25",
      "x.toml", {});
  const Network network(spec::scaled(fast).network);
  EXPECT_EQ(network.request(0).rate, 1_Gbit);
  EXPECT_EQ(network.request(0).queue, 1_MB);
  EXPECT_EQ(network.request(0).delay, 1ms);
  // In bdp it follows the rate: 1 Gbit/s * 4 ms / 8.
  spec::Experiment by_product = fast;
  by_product.network.link.queue = {spec::Queue{.bdp = 1, .bytes = {}}};
  EXPECT_EQ(Network(spec::scaled(by_product).network).request(0).queue, 500'000_B);
}

TEST(Network, OverriddenDelaysCountOnTheWayThatTheyAreOn) {
  const Network network = network_of(
      "topology = \"dumbbell\"\nhosts = 4\ndelay = \"10us\"\ncore_delay = \"100us\"\n"
      "[[network.link]]\nat = \"core\"\ndirection = \"to_host\"\ndelay = \"1ms\"");
  // Two host links each way, the core to the right and back.
  EXPECT_EQ(round_trip(network, 0, 3), 40us + 100us + 1ms);
  EXPECT_EQ(round_trip(network, 2, 3), 40us);
}

// k = 160, 80 hosts on an edge switch: 999,999 = (156 * 80 + 19) * 80 + 79 hangs on edge 12,499 of
// pod 156. Its last digit picks place 79, the one before it core 79 * 80 + 19.
TEST(Network, OfAMillionHostsIsWalkedAtOnce) {
  const Network tree = network_of("topology = \"fattree\"\nhosts = 1000000");
  EXPECT_EQ(tree.path(0, 999'999).size(), 6);
  EXPECT_EQ(tree.path_count(0, 999'999), 6'400);
  EXPECT_EQ(way(tree, 0, 999'999), "host0>edge0>agg79>core6339>agg12559>edge12499>host999999");
}

}  // namespace
}  // namespace tw::network
