// SPDX-License-Identifier: Apache-2.0
#include "trainwire/usage/links.h"

#include "trainwire/result/test_folder.h"
#include "trainwire/spec/parse.h"

#include <gmock/gmock.h>

namespace tw::usage {
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

// A dumbbell's core is the limit of every path from left to right: it says nothing of hosts' links.
TEST(DescribedNetwork, ALinkThatLimitsNoPathHasNoRateInEffect) {
  const network::NetPlan plan =
      plan_of("hosts = 2\ntopology = \"dumbbell\"\nrate = \"50Mbit\"\ncore_rate = \"25Mbit\"");
  const record::Network network = described(plan, {measured(plan, 0, 1, 24.8e6)});
  ASSERT_EQ(network.links.size(), 6U);
  EXPECT_EQ(network.links[0].effective->path, (std::vector<std::string>{"host0", "host1"}));
  EXPECT_EQ(network.links[0].effective->rate_bps, std::nullopt);
  EXPECT_EQ(network.links[4].name, "core");
  EXPECT_EQ(network.links[4].effective->rate_bps, 24.8e6);
}

watch::LinkSample sample(std::int64_t time_ns, std::uint64_t host_bytes, std::uint64_t core_bytes) {
  watch::LinkSample sample{.time_ns = time_ns, .ports = std::vector<watch::PortCounts>(6)};
  sample.ports[0].bytes = host_bytes;
  sample.ports[4].bytes = core_bytes;
  sample.ports[4].dropped = core_bytes / 1000;
  sample.ports[4].queue_bytes = core_bytes / 100;
  return sample;
}

TEST(CountedNetwork, FindsThatTheCoreIsTheBusiestLink) {
  const network::NetPlan plan =
      plan_of("hosts = 2\ntopology = \"dumbbell\"\nrate = \"50Mbit\"\ncore_rate = \"25Mbit\"");
  record::Network network = described(plan, {});
  EXPECT_FALSE(busiest(network));
  watch::WatchRecord record;
  constexpr std::int64_t kSecond = 1'000'000'000;
  record.links = {sample(0, 0, 0), sample(kSecond, 0, 0), sample(2 * kSecond, 2'500'000, 2'500'000),
                  sample(3 * kSecond, 2'600'000, 2'600'000)};
  count(network, plan, record, {kSecond, 2 * kSecond});
  const auto most = busiest(network);
  ASSERT_TRUE(most);
  EXPECT_EQ(most->link, "core");
  EXPECT_EQ(most->direction, "from_host");
  EXPECT_DOUBLE_EQ(most->share, 0.8);
  EXPECT_DOUBLE_EQ(most->rate_bps, 20e6);
  EXPECT_DOUBLE_EQ(network.links[0].counted->share, 0.4);
  // The whole run, not only the counted time.
  EXPECT_EQ(network.links[4].counted->bytes, 2'600'000);
  EXPECT_EQ(network.links[4].counted->dropped_packets, 2600);
  EXPECT_EQ(network.links[4].counted->queue_peak_bytes, 26'000);
}

}  // namespace
}  // namespace tw::usage
