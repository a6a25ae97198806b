// SPDX-License-Identifier: Apache-2.0
#include "trainwire/network/topologies.h"

#include "trainwire/network/test_networks.h"
#include "trainwire/spec/links.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace tw::network {
namespace {

using namespace std::chrono_literals;

TEST(Star, LeadsOverItsSwitch) {
  const Network network = network_of("hosts = 3");
  EXPECT_EQ(network.nodes(), 4);
  EXPECT_EQ(network.ports(), 6);
  EXPECT_EQ(way(network, 2, 0), "host2>switch>host0");
  EXPECT_EQ(network.path(2, 0), (std::vector<int>{4, 1}));
  EXPECT_TRUE(network.path(1, 1).empty());
}

TEST(Dumbbell, CrossesItsCore) {
  const Network network = network_of("topology = \"dumbbell\"\nhosts = 4\nleft = 1");
  EXPECT_EQ(way(network, 0, 3), "host0>left>right>host3");
  EXPECT_EQ(way(network, 3, 0), "host3>right>left>host0");
  EXPECT_EQ(way(network, 1, 2), "host1>right>host2");
  EXPECT_EQ(network.link_name(4), "core");
}

// Host i hangs on leaf i / 2; the destination's parity picks the spine.
TEST(LeafSpine, SpreadsDestinationsOverSpines) {
  const Network network = network_of("topology = \"leafspine\"\nhosts = 6\nleaves = 3\nspines = 2");
  EXPECT_EQ(way(network, 0, 1), "host0>leaf0>host1");
  EXPECT_EQ(way(network, 0, 4), "host0>leaf0>spine0>leaf2>host4");
  EXPECT_EQ(way(network, 0, 5), "host0>leaf0>spine1>leaf2>host5");
  EXPECT_EQ(way(network, 5, 0), "host5>leaf2>spine0>leaf0>host0");
  EXPECT_EQ(network.path_count(0, 1), 1);
  EXPECT_EQ(network.path_count(0, 5), 2);
}

// k = 4: two hosts on each edge switch, two of these in a pod. Host 13 = 0b1101 hangs on edge 6 of
// pod 3; its lowest digit picks the place in the sender's pod, the next one the core above it.
TEST(FatTree, ClimbsAsFarAsItMust) {
  const Network tree = network_of("topology = \"fattree\"\nhosts = 16");
  EXPECT_EQ(way(tree, 0, 1), "host0>edge0>host1");
  EXPECT_EQ(way(tree, 0, 2), "host0>edge0>agg0>edge1>host2");
  EXPECT_EQ(way(tree, 0, 3), "host0>edge0>agg1>edge1>host3");
  EXPECT_EQ(way(tree, 0, 13), "host0>edge0>agg1>core2>agg7>edge6>host13");
  EXPECT_EQ(way(tree, 13, 0), "host13>edge6>agg6>core0>agg0>edge0>host0");
  EXPECT_EQ(tree.path_count(0, 1), 1);
  EXPECT_EQ(tree.path_count(0, 2), 2);
  EXPECT_EQ(tree.path_count(0, 13), 4);
}

// 16 hosts, 8 + 8 + 4 switches, 16 links from edge to aggregation switches and 16 above these.
TEST(FatTree, OfFourPodsHasTwentySwitches) {
  const auto tree = fat_tree(16);
  EXPECT_EQ(tree->switches(), 20);
  EXPECT_EQ(tree->core_links(), 32);
  EXPECT_EQ(tree->link_name(15), "edge7-agg7");
  EXPECT_EQ(tree->link_name(16), "agg0-core0");
  EXPECT_EQ(tree->link_name(31), "agg7-core3");
}

// From every host to host 15 - i of the last pod: each core is the way to as many destinations.
TEST(FatTree, SpreadsDestinationsOverAllCores) {
  const Network tree = network_of("topology = \"fattree\"\nhosts = 16");
  std::set<std::string> ways;
  for (int to = 12; to < 16; ++to) {
    const std::string text = way(tree, 0, to);
    ways.insert(text.substr(text.find("core"), 5));
  }
  EXPECT_EQ(ways, (std::set<std::string>{"core0", "core1", "core2", "core3"}));
}

TEST(Wiring, NamesEveryLinkAsTheExperimentFileDoes) {
  for (const std::string& keys : varied_networks()) {
    const spec::Network file = spec_of(keys);
    const auto wiring = wiring_of(file);
    std::set<std::string> names;
    for (int link = 0; link < wiring->core_links(); ++link) {
      EXPECT_TRUE(spec::is_core_link(file, wiring->link_name(link))) << wiring->link_name(link);
      names.insert(wiring->link_name(link));
    }
    EXPECT_EQ(static_cast<int>(names.size()), wiring->core_links()) << keys;
  }
}

/// Links over which a path goes besides those of its two hosts.
int core_hops(const Network& network, const std::vector<int>& path) {
  int hops = 0;
  for (const int port : path) hops += port >= 2 * network.hosts() ? 1 : 0;
  return hops;
}

// By destination and by any flow: ports join, no path is longer than another, and each crosses one
// core link for every zone that it leaves or enters.
TEST(Wiring, LeadsFromEveryHostToEveryOther) {
  for (const std::string& keys : varied_networks()) {
    const Network network = network_of(keys);
    for (int from = 0; from < network.hosts(); ++from) {
      for (int to = 0; to < network.hosts(); ++to) {
        if (from == to) continue;
        std::vector<int> zones = network.wiring().zones_of(from);
        const std::vector<int> others = network.wiring().zones_of(to);
        zones.insert(zones.end(), others.begin(), others.end());
        std::multiset<int> counts(zones.begin(), zones.end());
        int crossed = 0;
        for (const int zone : zones) crossed += counts.count(zone) == 1 ? 1 : 0;
        for (const auto& hash : {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(7)}) {
          const std::vector<int> path = network.path(from, to, hash);
          EXPECT_EQ(path.front(), 2 * from);
          EXPECT_EQ(path.back(), 2 * to + 1);
          for (std::size_t i = 1; i < path.size(); ++i) {
            EXPECT_EQ(network.port(path[i]).from, network.end_of(path[i - 1]));
          }
          ASSERT_EQ(core_hops(network, path), crossed) << keys << ": " << from << " to " << to;
        }
      }
    }
  }
}

/// Follows parents to the one that stands for a group of nodes.
int root_of(std::vector<int>& parents, int node) {
  while (parents[static_cast<std::size_t>(node)] != node)
    node = parents[static_cast<std::size_t>(node)];
  return node;
}

TEST(Wiring, FloodsEveryHostOnceAndNothingInCircles) {
  for (const std::string& keys : varied_networks()) {
    const Network network = network_of(keys);
    std::vector<int> parents(static_cast<std::size_t>(network.nodes()));
    std::iota(parents.begin(), parents.end(), 0);
    for (int link = 0; link < network.links(); ++link) {
      if (link >= network.hosts() && !network.wiring().floods(link - network.hosts())) continue;
      const int a = root_of(parents, network.end_of(2 * link));
      const int b = root_of(parents, network.end_of(2 * link + 1));
      EXPECT_NE(a, b) << keys << ": " << network.link_name(link) << " closes a circle";
      parents[static_cast<std::size_t>(a)] = b;
    }
    for (int host = 1; host < network.hosts(); ++host) {
      EXPECT_EQ(root_of(parents, host), root_of(parents, 0)) << keys << ": " << host;
    }
  }
}

// The closed form sizes queues before anything is laid out: it must be what the paths say.
TEST(Wiring, AgreesWithTheRoundTripThatQueuesAreSizedFor) {
  for (const std::string& keys : varied_networks()) {
    const std::string delays = keys + "\ndelay = \"10us\"\ncore_delay = \"100us\"";
    const Network network = network_of(delays);
    if (network.hosts() == 1) continue;  // it talks to one like itself, which is not there
    Duration longest = {};
    for (int to = 1; to < network.hosts(); ++to) {
      longest = std::max(longest, round_trip(network, 0, to));
    }
    EXPECT_EQ(longest, spec::longest_round_trip(spec_of(delays))) << keys;
  }
}

}  // namespace
}  // namespace tw::network
