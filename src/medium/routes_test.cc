// SPDX-License-Identifier: Apache-2.0
#include "trainwire/medium/routes.h"

#include "trainwire/base/random.h"
#include "trainwire/medium/flow_network.h"
#include "trainwire/medium/packet_network.h"
#include "trainwire/spec/parse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tw::medium {
namespace {

using namespace std::chrono_literals;

spec::Network network_of(const std::string& text) {
  return spec::parse("[network]\n" + text, "x.toml", spec::Vocabulary{}, {}).network;
}

constexpr const char* kLeaves = "topology = \"leafspine\"\nhosts = 4\nleaves = 2\nspines = 4\n";

TEST(Routes, EachConnectionHasAHashOfItsOwnAndKeepsItsWay) {
  Routes routes(network_of(std::string(kLeaves) + "paths = \"flow\""), 7);
  std::set<std::vector<int>> ways;
  for (int i = 0; i < 64; ++i) {
    const network::Flow flow = routes.next_flow(0, 3);
    EXPECT_EQ(routes.ports(flow), routes.ports(flow));
    ways.insert(routes.ports(flow));
  }
  EXPECT_EQ(ways.size(), 4U);
}

// host0's own port is 0, host3's 7. Core links 4 to 11 belong to leaf0 and leaf1 in turn: up by ports
// 8, 12, 16, 20, down again by 11, 15, 19, 23.
TEST(Routes, OnePortStandsForThoseThatAreSprayedOver) {
  Routes routes(network_of(std::string(kLeaves) + "paths = \"packet\""), 1);
  EXPECT_EQ(routes.ports(routes.next_flow(0, 3)), (std::vector<int>{0, 8, 11, 7}));
  EXPECT_EQ(routes.group(8), (std::vector<int>{8, 12, 16, 20}));
  EXPECT_EQ(routes.stands_for(16), 8);
  EXPECT_EQ(routes.stands_for(0), 0);
  EXPECT_TRUE(routes.group(0).empty());
}

// In equal parts the slowest one holds all back, and of the loss each has its part.
TEST(Routes, PortsTogetherAreAsManyTimesTheSlowest) {
  network::Request fast{.rate = 10_Gbit, .delay = 1us, .queue = Bytes(1000)};
  network::Request slow{.rate = 1_Gbit, .delay = 3us, .loss = 0.01, .queue = Bytes(900)};
  const network::Request both = together({fast, slow}, 0);
  EXPECT_EQ(both.rate, 2_Gbit);
  EXPECT_EQ(both.delay, 3us);
  EXPECT_DOUBLE_EQ(both.loss, 0.005);
  EXPECT_EQ(both.queue, Bytes(1800));
}

/// Seconds until the last of `bytes` from every host to another is there.
template <class Network, class... Options>
double permutation_s(const std::string& text, std::int64_t bytes, const Options&... options) {
  const spec::Network asked = network_of(text);
  Duration last = {};
  Told told{.left = [](Tag, Duration) {},
            .came = [&last](Tag, Duration now) { last = std::max(last, now); }};
  std::unique_ptr<Medium> medium;
  if constexpr (sizeof...(Options) == 0) {
    medium = std::make_unique<Network>(asked, 1, told);
  } else {
    medium = std::make_unique<Network>(asked, told, options...);
  }
  std::vector<int> order(static_cast<std::size_t>(*asked.hosts));
  std::iota(order.begin(), order.end(), 0);
  Random random(1, "permutation");
  for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[random.below(i + 1)]);
  for (std::size_t i = 0; i < order.size(); ++i) {
    medium->send(medium->connect(order[i], order[(i + 1) % order.size()]), bytes, i, 0s);
  }
  while (const auto next = medium->next()) medium->advance(*next);
  return seconds(last);
}

std::string fat_tree(int hosts, const std::string& paths) {
  return "topology = \"fattree\"\nhosts = " + std::to_string(hosts) +
         "\nrate = \"100Gbit\"\ndelay = \"1us\"\nmtu = 9000\npaths = \"" + paths + "\"\n";
}

// 2 MB from each of 1,024 hosts at 100 Gbit/s (htsim's validation of EQDS): 1,300 us where each flow
// keeps its way, 220 us where packets are sprayed. 2 MB take 161 us with headers, and six links' delays
// and frames 6 + 5 * 0.7 us. Fluids have no queues to wait in, so sprayed they are done then; a way of
// one's own is shared by as many as chance has it, six for the unluckiest: within 30 %.
TEST(Permutation, ATailOfOneWayAndOfAll) {
  const FlowOptions at_once{.tcp = false};
  EXPECT_NEAR(permutation_s<FlowNetwork>(fat_tree(1024, "packet"), 2'000'000, at_once),
              2e6 * 8 / 100e9 * 9014 / 8948 + 6e-6 + 5 * 9014 * 8 / 100e9, 1e-6);
  EXPECT_NEAR(permutation_s<FlowNetwork>(fat_tree(1024, "flow"), 2'000'000, at_once), 1300e-6,
              390e-6);
}

// The same packet by packet with TCP, on 16 hosts: who sprays is sooner done.
TEST(Permutation, PacketsAreSprayedToo) {
  const double sprayed_s = permutation_s<PacketNetwork>(fat_tree(16, "packet"), 2'000'000);
  EXPECT_LT(sprayed_s, 0.8 * permutation_s<PacketNetwork>(fat_tree(16, "flow"), 2'000'000));
  EXPECT_GT(sprayed_s, 161e-6);
}

// Ports that one stands for have an equal part each of what it carried, and a slow one slows all.
TEST(FlowNetwork, SpraysInEqualParts) {
  Duration came = {};
  FlowNetwork network(
      network_of(std::string(kLeaves) + "core_rate = \"300Mbit\"\npaths = "
                                        "\"packet\"\n"),
      {.left = [](Tag, Duration) {}, .came = [&](Tag, Duration now) { came = now; }},
      {.tcp = false});
  const double line = 1e9 / 8 * 1448 / 1514;
  const int connection = network.connect(0, 3);
  network.send(connection, 10'000'000, 1, 0s);
  while (const auto next = network.next()) network.advance(*next);
  EXPECT_NEAR(seconds(came), 10e6 / line, 1e-3);
  for (const int port : {8, 12, 16, 20, 11, 23}) {
    EXPECT_NEAR(network.figures(port).payload_bytes, 2.5e6, 1) << port;
  }
  EXPECT_NEAR(network.figures(7).payload_bytes, 1e7, 1);
  // Four ports of 100 Mbit/s each, because one is.
  const Duration begin = came;
  network::Request slow = network.network().request(12);
  slow.rate = 100_Mbit;
  network.alter(12, slow, begin);
  network.send(connection, 10'000'000, 2, begin);
  while (const auto next = network.next()) network.advance(*next);
  EXPECT_NEAR(seconds(came - begin), 10e6 / (0.4 * line), 1e-3);
}

}  // namespace
}  // namespace tw::medium
