// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sweep/points.h"

#include "trainwire/spec/parse.h"

#include <gmock/gmock.h>

namespace tw::sweep {
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

TEST(SweepPoints, TakeTurns) {
  const auto points = points_of(experiment(
      std::string(kPair) + "[run]\nrepeats = 2\n[sweep]\n\"network.loss\" = [0, 0.1]\n"));
  ASSERT_EQ(points.size(), 4u);
  EXPECT_THAT(points[0].settings, ElementsAre("network.loss=0", "run.seed=1"));
  EXPECT_THAT(points[1].settings, ElementsAre("network.loss=0.1", "run.seed=1"));
  EXPECT_THAT(points[2].settings, ElementsAre("network.loss=0", "run.seed=2"));
  EXPECT_EQ(points[2].combination, points[0].combination);
}

TEST(SweepPoints, GoTogetherWhereTheyShould) {
  const auto points = points_of(experiment(
      std::string(kPair) +
      "[sweep]\n\"network.loss, job.steps\" = [[0, 1], [0.1, 2]]\n\"run.seed\" = [1, 2]\n"));
  ASSERT_EQ(points.size(), 4u);
  EXPECT_THAT(points[2].settings, ElementsAre("network.loss=0.1", "job.steps=2", "run.seed=1"));
}

TEST(IsNarrow, TakesThreeAndTheirInterval) {
  const std::vector<double> two{1, 1}, equal{1, 1, 1}, wide{1, 2, 3};
  EXPECT_FALSE(is_narrow(two, 0.5));
  EXPECT_TRUE(is_narrow(equal, 0.01));
  // Mean 2, standard deviation 1: 4.303 / sqrt(3) = 2.48 on either side.
  EXPECT_FALSE(is_narrow(wide, 1.2));
  EXPECT_TRUE(is_narrow(wide, 1.25));
}

}  // namespace
}  // namespace tw::sweep
