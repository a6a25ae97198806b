// SPDX-License-Identifier: Apache-2.0
#include "trainwire/network/ecmp.h"

#include "trainwire/network/test_networks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace tw::network {
namespace {

/// How many of `flows` connections from host 0 to host 15 take each path.
std::map<std::string, int> taken(const Network& network, int flows, std::uint64_t seed) {
  std::map<std::string, int> counts;
  for (int i = 0; i < flows; ++i) {
    const Flow flow{.from = 0,
                    .to = 15,
                    .source_port = static_cast<std::uint16_t>(40'000 + i),
                    .destination_port = 5000};
    ++counts[path_text(network, 0, network.path(0, 15, flow_hash(flow, seed)))];
  }
  return counts;
}

TEST(FlowHash, KeepsAFlowOnItsWay) {
  const Flow flow{.from = 3, .to = 9, .source_port = 40'000, .destination_port = 5000};
  EXPECT_EQ(flow_hash(flow, 7), flow_hash(flow, 7));
  EXPECT_NE(flow_hash(flow, 7), flow_hash(flow, 8));
  Flow other = flow;
  other.source_port = 40'001;
  EXPECT_NE(flow_hash(flow, 7), flow_hash(other, 7));
  // The way back is a flow of its own.
  const Flow back{.from = 9, .to = 3, .source_port = 5000, .destination_port = 40'000};
  EXPECT_NE(flow_hash(flow, 7), flow_hash(back, 7));
}

// 4,000 flows over n paths: each has 4000/n, give or take five standard deviations of a binomial.
void expect_even(const std::map<std::string, int>& counts, int paths) {
  ASSERT_EQ(static_cast<int>(counts.size()), paths);
  const double mean = 4000.0 / paths;
  for (const auto& [path, count] : counts) {
    EXPECT_NEAR(count, mean, 5 * std::sqrt(mean * (1 - 1.0 / paths))) << path;
  }
}

TEST(FlowHash, SpreadsFlowsEvenlyOverSpines) {
  const Network network =
      network_of("topology = \"leafspine\"\nhosts = 16\nleaves = 4\nspines = 3");
  expect_even(taken(network, 4000, 1), 3);
}

// Were the choices at edge and aggregation switches the same, half of the cores would stay empty.
TEST(FlowHash, ChoosesAnewAtEverySwitch) {
  const Network network = network_of("topology = \"fattree\"\nhosts = 16");
  for (const std::uint64_t seed : {1U, 2U, 3U}) expect_even(taken(network, 4000, seed), 4);
}

TEST(FlowHash, HasNoChoiceWhereThereIsOneWay) {
  EXPECT_EQ(hashed_way(12345, 6, 1), 0);
  EXPECT_EQ(taken(network_of("hosts = 16"), 100, 1).size(), 1);
}

}  // namespace
}  // namespace tw::network
