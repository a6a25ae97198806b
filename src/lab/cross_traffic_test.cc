// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/cross_traffic.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/parse.h"
#include "trainwire/spec/scale.h"

#include <gmock/gmock.h>

#include <fstream>

namespace tw::lab {
namespace {

using testing::HasSubstr;

constexpr const char* kNetwork = "[network]\nhosts = 4\nrate = \"10Gbit\"\n[run]\nscale = 10\n";

std::vector<CrossTraffic> made(const std::string& keys) {
  const spec::Experiment experiment =
      spec::scaled(spec::parse(kNetwork + std::string("[traffic]\n") + keys, "x.toml", {}));
  const network::NetPlan plan = network::make_plan(experiment);
  std::vector<HostAddress> hosts;
  for (const network::HostPlan& host : plan.hosts) hosts.push_back({host.name, host.address});
  return cross_traffic(experiment, plan, hosts, "folder");
}

std::string problem(const std::string& keys) {
  try {
    made(keys);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
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

TEST(CrossTraffic, MoreThanTheLinkCarriesIsRefused) {
  EXPECT_THAT(problem("from = \"host0\"\nto = \"host1\"\nload = \"11Gbit\"\n"),
              HasSubstr("11 Gbit/s is more than the 10 Gbit/s that the way from host0 to host1"));
}

TEST(CrossTraffic, ALoadOfZeroNeedsNoProcesses) {
  EXPECT_TRUE(made("from = \"host0\"\nto = \"host1\"\nload = 0\n")[0].is_silent());
}

TEST(CrossTraffic, AListGoesWhereItSays) {
  const std::string path = testing::TempDir() + "cross_traffic_test_load.csv";
  std::ofstream(path) << "# duration_s,1\nstart_s,destination,bytes\n0,host1,1000\n0.5,host2,5\n";
  const std::string keys = "kind = \"file\"\nfrom = \"host0\"\nfile = \"" + path + "\"\n";
  const auto traffic = made(keys);
  ASSERT_EQ(traffic.size(), 2u);
  EXPECT_EQ(traffic[0].to, 1);
  EXPECT_EQ(traffic[0].source.list.at(0).size, Bytes(100));
  // Nothing is scaled away.
  EXPECT_EQ(traffic[1].source.list.at(0).size, Bytes(1));
  std::ofstream(path) << "start_s,destination,bytes\n0,host9,1000\n";
  EXPECT_THAT(problem(keys), HasSubstr("there is no host host9"));
  std::ofstream(path) << "start_s,destination,bytes\n0,host0,1000\n";
  EXPECT_THAT(problem(keys), HasSubstr("host0 is where it comes from"));
}

TEST(CrossTraffic, AWrongDistributionIsToldBeforeAnythingIsBuilt) {
  EXPECT_NE(problem("kind = \"websearch\"\nfrom = \"host0\"\nto = \"host1\"\nload = 0.5\n"
                    "distribution = \"/nowhere/sizes.txt\"\n"),
            "");
}

}  // namespace
}  // namespace tw::lab
