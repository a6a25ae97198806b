// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/level.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/parse.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

namespace tw::sim {
namespace {

// 4 MB a rank and step: some 100,000 packets over two ports each are simulated one by one; those of
// a thousand points are not, in none of them.
TEST(FittingLevel, IsOneForAllPointsOfASweep) {
  const spec::Experiment small =
      spec::parse("[network]\nhosts = 4\n[[job]]\nparameters = \"4MB\"\nsteps = 3\n", "x.toml",
                  {.models = {}, .strategies = {"ring"}, .devices = {"a100"}});
  EXPECT_EQ(fitting_level(small), Level::Packet);
  const std::vector<spec::Experiment> points(1000, small);
  EXPECT_EQ(fitting_level(std::span(points).first(2)), Level::Packet);
  EXPECT_EQ(fitting_level(std::span(points)), Level::Flow);
}

spec::Experiment small_with(const std::string& network, const std::string& more) {
  return spec::parse("[network]\nhosts = 4\n" + network +
                         "[[job]]\nparameters = \"4MB\"\nsteps = 3\ncompute_time = \"10s\"\n" +
                         more,
                     "x.toml", {.models = {}, .strategies = {"ring"}, .devices = {"a100"}});
}

// 10 Gbit/s for 30 s are 37 GB, some 75 million packets over two ports.
TEST(FittingLevel, CountsCrossTraffic) {
  const std::string traffic = "[[traffic]]\nfrom = \"host0\"\nto = \"host1\"\nload = ";
  EXPECT_EQ(fitting_level(small_with("rate = \"10Gbit\"\n", traffic + "\"1Mbit\"\n")),
            Level::Packet);
  EXPECT_EQ(fitting_level(small_with("rate = \"10Gbit\"\n", traffic + "1.0\n")), Level::Flow);
}

TEST(FittingLevel, IsFlowWhereTimersCannotBearADelay) {
  const spec::Experiment slow = small_with("delay = \"30m\"\n", "");
  EXPECT_EQ(fitting_level(slow), Level::Flow);
  EXPECT_EQ(fitting_level(std::span(&slow, 1)), Level::Flow);
  const network::Network network(slow.network);
  EXPECT_THROW(require_bearable_delays(network, Level::Packet), SpecError);
  EXPECT_NO_THROW(require_bearable_delays(network, Level::Flow));
}

}  // namespace
}  // namespace tw::sim
