// SPDX-License-Identifier: Apache-2.0
#include "trainwire/load/entry.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/parse.h"
#include "trainwire/spec/scale.h"

#include <gmock/gmock.h>

#include <fstream>

namespace tw::load {
namespace {

using testing::HasSubstr;

spec::Experiment experiment(const std::string& keys) {
  return spec::scaled(spec::parse(
      "[network]\nhosts = 4\nrate = \"10Gbit\"\n[run]\nscale = 10\nseed = 5\n[traffic]\n" + keys,
      "x.toml", {}));
}

/// On links that are all alike.
std::vector<Entry> made(const std::string& keys) {
  const spec::Experiment with = experiment(keys);
  return entries(with, [&](int, int) { return *with.network.link.rate; });
}

std::string problem(const std::string& keys) {
  try {
    made(keys);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Entries, ALoadIsAShareOfTheFrames) {
  const std::string keys =
      "kind = \"websearch\"\nfrom = \"host3\"\nto = \"host0\"\nload = 0.8\nduration = \"2s\"\n";
  const std::vector<Entry> found = made(keys);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "websearch from host3 to host0");
  EXPECT_EQ(found[0].from, 3);
  EXPECT_DOUBLE_EQ(found[0].capacity.bits_per_second(), 1e9);
  EXPECT_DOUBLE_EQ(found[0].requested.bits_per_second(), 8e8);
  // 1448 of the 1514 bytes of a full frame are payload.
  EXPECT_DOUBLE_EQ(found[0].payload_rate().bits_per_second(), 8e8 * 1448 / 1514);
  const Demand demand = demand_of(found[0], experiment(keys));
  EXPECT_EQ(demand.seed, 5U);
  EXPECT_EQ(demand.duration, std::chrono::seconds(2));
  // A tenth of the sizes as well as of the rates.
  EXPECT_DOUBLE_EQ(demand.distribution.mean(), distribution_named("websearch").mean() / 10);
}

TEST(Entries, MoreThanTheWayCarriesIsRefused) {
  EXPECT_THAT(problem("from = \"host0\"\nto = \"host1\"\nload = \"11Gbit\"\n"),
              HasSubstr("11 Gbit/s is more than the 10 Gbit/s that the way from host0 to host1"));
  EXPECT_TRUE(made("from = \"host0\"\nto = \"host1\"\nload = 0\n")[0].is_silent());
}

TEST(Entries, AListGoesWhereItSays) {
  const std::string path = testing::TempDir() + "cross_traffic_test_load.csv";
  std::ofstream(path) << "# duration_s,1\nstart_s,destination,bytes\n0,host1,1000\n0.5,host2,5\n";
  const std::string keys = "kind = \"file\"\nfrom = \"host0\"\nfile = \"" + path + "\"\n";
  const std::vector<Entry> traffic = made(keys);
  ASSERT_EQ(traffic.size(), 2u);
  EXPECT_EQ(traffic[0].to, 1);
  EXPECT_EQ(traffic[0].list.at(0).size, Bytes(100));
  // Nothing is scaled away.
  EXPECT_EQ(traffic[1].list.at(0).size, Bytes(1));
  std::ofstream(path) << "start_s,destination,bytes\n0,host9,1000\n";
  EXPECT_THAT(problem(keys), HasSubstr("there is no host host9"));
  std::ofstream(path) << "start_s,destination,bytes\n0,host0,1000\n";
  EXPECT_THAT(problem(keys), HasSubstr("host0 is where it comes from"));
}

TEST(Entries, AWrongDistributionIsToldBeforeAnythingIsBuilt) {
  EXPECT_NE(problem("kind = \"websearch\"\nfrom = \"host0\"\nto = \"host1\"\nload = 0.5\n"
                    "distribution = \"/nowhere/sizes.txt\"\n"),
            "");
}

}  // namespace
}  // namespace tw::load
