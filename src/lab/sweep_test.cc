// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/sweep.h"

#include "trainwire/spec/parse.h"

#include <gmock/gmock.h>

namespace tw::lab {
namespace {

using testing::ElementsAre;

constexpr const char* kPair = "[network]\nhosts = 2\n[[job]]\nparameters = \"1KB\"\n";

spec::Experiment experiment(const std::string& text) {
  return spec::parse(text, "test", {.models = {}, .strategies = {"ring"}, .devices = {"a100"}});
}

TEST(SweepPoints, AreAllCombinationsTheLastAxisFastest) {
  const auto points = points_of(experiment(
      std::string(kPair) + "[sweep]\n\"network.loss\" = [0, 0.1]\n\"job.steps\" = [1, 2]\n"));
  ASSERT_EQ(points.size(), 4u);
  EXPECT_THAT(points[1].settings, ElementsAre("network.loss=0", "job.steps=2"));
  EXPECT_EQ(points[3].folder, "point-003");
}

TEST(SweepPoints, OfRepeatsHaveSeedsOfTheirOwn) {
  const auto points = points_of(experiment(std::string(kPair) + "[run]\nseed = 7\nrepeats = 2\n"));
  ASSERT_EQ(points.size(), 2u);
  EXPECT_THAT(points[0].settings, ElementsAre("run.seed=7"));
  EXPECT_THAT(points[1].settings, ElementsAre("run.seed=8"));
}

}  // namespace
}  // namespace tw::lab
