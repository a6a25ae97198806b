// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/runs_to_come.h"

#include <gmock/gmock.h>

namespace tw::text {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

RunsToCome three() {
  return {.points = {{.folder = "x.run/point-000",
                      .settings = {"network.loss=0"},
                      .steps = 5,
                      .least = seconds(2),
                      .finished = true},
                     {.folder = "x.run/point-001",
                      .settings = {"network.loss=0.1"},
                      .steps = 5,
                      .least = seconds(3)},
                     {.folder = "x.run/point-002", .steps = 5, .least = seconds(4)}}};
}

TEST(RunsToCome, CountWhatIsNotThere) {
  const std::string text = to_text(three());
  EXPECT_THAT(text, HasSubstr("point-000  network.loss=0: 5 steps, finished"));
  EXPECT_THAT(text, HasSubstr("point-001  network.loss=0.1: 5 steps, at least 3 s\n"));
  EXPECT_THAT(text, HasSubstr("2 runs to come, at least 7 s of steps"));
  EXPECT_EQ(to_json(three())["least_s"], 7);
  EXPECT_EQ(to_json(three())["points"].size(), 3u);
}

TEST(RunsToCome, AreCutOffOnATerminal) {
  RunsToCome many;
  many.points.resize(50, {.folder = "x"});
  EXPECT_THAT(to_text(many), HasSubstr("and 14 more"));
  EXPECT_EQ(to_json(many)["points"].size(), 50u);
}

TEST(RunsToCome, SayWhenFewerMayDo) {
  RunsToCome runs = three();
  runs.until = 0.05;
  EXPECT_THAT(to_text(runs), HasSubstr("known to 5 %"));
}

}  // namespace
}  // namespace tw::text
