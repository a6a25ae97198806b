// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/cross_traffic.h"

#include "trainwire/spec/parse.h"
#include "trainwire/spec/scale.h"

#include <gmock/gmock.h>

namespace tw::lab {
namespace {

constexpr const char* kNetwork = "[network]\nhosts = 4\nrate = \"10Gbit\"\n[run]\nscale = 10\n";

std::vector<CrossTraffic> made(const std::string& keys) {
  const spec::Experiment experiment =
      spec::scaled(spec::parse(kNetwork + std::string("[traffic]\n") + keys, "x.toml", {}));
  const network::NetPlan plan = network::make_plan(experiment);
  std::vector<HostAddress> hosts;
  for (const network::HostPlan& host : plan.hosts) hosts.push_back({host.name, host.address});
  return cross_traffic(experiment, plan, hosts, "folder");
}

TEST(CrossTraffic, ScaleDividesRatesAndSizesAndALoadIsAShareOfTheFrames) {
  const auto traffic = made(
      "kind = \"websearch\"\nfrom = \"host3\"\nto = \"host0\"\nload = 0.8\n"
      "duration = \"2s\"\n");
  ASSERT_EQ(traffic.size(), 1u);
  EXPECT_EQ(traffic[0].name, "websearch from host3 to host0");
  EXPECT_EQ(traffic[0].from, 3);
  EXPECT_DOUBLE_EQ(traffic[0].capacity.bits_per_second(), 1e9);
  EXPECT_DOUBLE_EQ(traffic[0].requested.bits_per_second(), 8e8);
  // 1448 of the 1514 bytes of a full frame are payload.
  EXPECT_DOUBLE_EQ(traffic[0].source.rate.bits_per_second(), 8e8 * 1448 / 1514);
  EXPECT_DOUBLE_EQ(traffic[0].source.size_scale, 0.1);
  EXPECT_EQ(traffic[0].source.token, traffic[0].sink.token);
  EXPECT_NE(traffic[0].source.address, traffic[0].sink.address);
}

TEST(CrossTraffic, ARateIsTheClustersNotTheEmulatedOne) {
  const auto traffic = made("from = \"host0\"\nto = \"host1\"\nload = \"5Gbit\"\nflows = 3\n");
  EXPECT_DOUBLE_EQ(traffic[0].requested.bits_per_second(), 5e8);
  EXPECT_EQ(traffic[0].source.flows, 3);
}

}  // namespace
}  // namespace tw::lab
