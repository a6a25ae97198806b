// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/level.h"

#include "trainwire/spec/parse.h"

#include <gtest/gtest.h>

#include <span>
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

}  // namespace
}  // namespace tw::sim
