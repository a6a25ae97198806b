// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/outcome.h"

#include "trainwire/spec/parse.h"

#include <gtest/gtest.h>

namespace tw::lab {
namespace {

network::NetPlan plan_of(const std::string& network) {
  const spec::Vocabulary words{};
  return network::make_plan(spec::parse("[network]\n" + network, "x.toml", words, {}));
}

testbed::PathCheck measured(const network::NetPlan& plan, int from, int to, double rate_bps) {
  measure::PathMeasurement found;
  found.rate.carried = BitRate(rate_bps);
  found.round_trip.median = std::chrono::milliseconds(4);
  found.loss = {.sent = 2000, .received = 2000};
  return testbed::judge({from, to}, testbed::expectation(plan, {from, to}), found);
}

// host1's way out is the slow one: what was measured on the path into host1 says nothing of it.
TEST(DescribedNetwork, GivesEachLinkThePathThatItLimits) {
  const network::NetPlan plan = plan_of(
      "hosts = 2\nrate = \"100Mbit\"\ndelay = \"1ms\"\n[[network.link]]\nat = \"host1\"\n"
      "direction = \"from_host\"\nrate = \"10Mbit\"");
  const record::Network network =
      described(plan, {measured(plan, 0, 1, 99e6), measured(plan, 1, 0, 9.9e6)});
  const std::vector<record::Link>& links = network.links;
  ASSERT_EQ(links.size(), 4U);
  EXPECT_EQ(links[2].name, "host1");
  EXPECT_EQ(links[2].direction, "from_host");
  EXPECT_EQ(links[2].requested.rate_bps, 10e6);
  EXPECT_EQ(links[2].effective->rate_bps, 9.9e6);
  EXPECT_EQ(links[3].effective->rate_bps, 99e6);
  EXPECT_EQ(network.paths.size(), 2U);
  EXPECT_FALSE(described(plan, {}).links[0].effective);
}

}  // namespace
}  // namespace tw::lab
