// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/flow_network.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/parse.h"

#include <gtest/gtest.h>

#include <chrono>

namespace tw::sim {
namespace {

using namespace std::chrono_literals;

spec::Network network_of(const std::string& text) {
  const spec::Vocabulary words{};
  return spec::parse("[network]\n" + text, "x.toml", words, {}).network;
}

TEST(PayloadShare, IsWhatHeadersLeave) {
  EXPECT_DOUBLE_EQ(payload_share(network_of("")), 1448.0 / 1514);
  EXPECT_DOUBLE_EQ(payload_share(network_of("ip_version = 6\nmtu = 9000")), 8928.0 / 9014);
}

// 1 Gbit/s, 50 us a link: a megabyte leaves in 8 ms and the headers' share.
TEST(FlowNetwork, AFlowAloneHasTheLine) {
  FlowNetwork network(network_of("hosts = 2"));
  const int flow = network.send(0, 1, 1'000'000, 0s);
  const auto end = network.next_end();
  ASSERT_TRUE(end);
  EXPECT_NEAR(seconds(*end), 8e-3 * 1514 / 1448, 1e-9);
  EXPECT_FALSE(network.ended(*end - 1ns));
  EXPECT_EQ(network.ended(*end), flow);
  EXPECT_FALSE(network.ended(*end));
  // Two links, and the second one's time for a frame.
  EXPECT_EQ(network.travelling(0, 1), 100us + Bytes(1514) / 1_Gbit);
  EXPECT_NEAR(network.carried(0, *end), 1e6, 1e-3);
  EXPECT_NEAR(network.carried(3, *end), 1e6, 1e-3);
  EXPECT_EQ(network.carried(1, *end), 0);
}

// Two into one host: each has half; when the shorter has ended, the other has all.
TEST(FlowNetwork, FlowsShareAPortAndTakeWhatOthersLeave) {
  FlowNetwork network(network_of("hosts = 3"));
  const double rate = 1e9 / 8 * 1448 / 1514;
  const int longer = network.send(0, 2, 3'000'000, 0s);
  const int shorter = network.send(1, 2, 1'000'000, 0s);
  const Duration first = *network.next_end();
  EXPECT_NEAR(seconds(first), 2e6 / rate, 1e-8);
  EXPECT_TRUE(network.certified());
  EXPECT_EQ(network.ended(first), shorter);
  const Duration second = *network.next_end();
  EXPECT_NEAR(seconds(second), 4e6 / rate, 1e-8);
  EXPECT_EQ(network.ended(second), longer);
  EXPECT_FALSE(network.next_end());
}

TEST(FlowNetwork, NothingAndNeighboursTakeNoTime) {
  FlowNetwork network(network_of("hosts = 2"));
  const int nothing = network.send(0, 1, 0, 5s);
  EXPECT_EQ(network.next_end(), 5s);
  EXPECT_EQ(network.ended(5s), nothing);
  const int inside = network.send(1, 1, 1'000'000, 6s);
  EXPECT_EQ(network.ended(6s), inside);
  EXPECT_EQ(network.travelling(1, 1), 0s);
}

}  // namespace
}  // namespace tw::sim
