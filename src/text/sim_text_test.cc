// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/sim_text.h"

#include "trainwire/text/run_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

namespace tw::text {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(SimText, TellsVirtualTimeAndWhatItCost) {
  record::Run run{.command = "sim"};
  run.engine = "flow";
  run.duration_s = 3;
  run.jobs = {{.name = "a", .strategy = "ring", .ranks = 8, .steps = 5}};
  // 40 steps of ranks in 10 ms.
  EXPECT_THAT(sim_text(run, "x", "x.run", {.messages = 1234567, .took_s = 0.01}),
              AllOf(HasSubstr("x, simulated flow by flow\n3 s of virtual time in 10 ms, 1,234,567 "
                              "messages, 4,000 steps of ranks a second\n"),
                    Not(HasSubstr("engine"))));
}

TEST(SimText, TellsWhichPointsWereThere) {
  record::Run sweep{.command = "sim"};
  sweep.engine = "flow";
  sweep.points.emplace(3);
  EXPECT_EQ(sweep_effort_text(sweep, 3, 1.5), "3 points flow by flow in 1.5 s");
  EXPECT_EQ(sweep_effort_text(sweep, 1, 1), "1 point flow by flow in 1 s; 2 were there");
  EXPECT_THAT(sweep_effort_text(sweep, 0, 1), HasSubstr("all 3 points are there"));
}

TEST(PointsText, OfManyTellsTheFirstAndThoseWithAProblem) {
  record::Run sweep{.command = "sim"};
  sweep.points.emplace();
  for (int i = 0; i < 1000; ++i) {
    sweep.points->push_back({.folder = "p", .settings = {fmt::format("x={}", i)}});
    sweep.points->back().complete = sweep.points->back().checks_ok = i != 777;
  }
  const std::string text = points_text(sweep, "x.run");
  EXPECT_THAT(text, AllOf(HasSubstr("x=39 "), Not(HasSubstr("x=40 ")), HasSubstr("x=777 "),
                          HasSubstr("and 959 more in points.csv")));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 50);
}

}  // namespace
}  // namespace tw::text
