// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/phases.h"

#include <gtest/gtest.h>

#include <sstream>

namespace tw::report {
namespace {

using nlohmann::ordered_json;

PhaseTime phase(std::int64_t rank, std::int64_t step, const char* name, std::int64_t from_ms,
                std::int64_t to_ms) {
  return {"job0", rank, step, name, from_ms * 1'000'000, to_ms * 1'000'000};
}

TEST(ReadPhases, ReadsStepsAndPassesOverWhatEndsBeforeItBegins) {
  std::istringstream text(
      "rank,step,phase,start_ns,end_ns,job\n0,1,forward,10,30,job0\n0,1,wait,30,20,job0\n");
  result::TableReader table(text);
  const auto times = read_phases(table);
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times[0].phase, "forward");
  EXPECT_EQ(times[0].end_ns, 30);
}

TEST(PhasesDocument, GivesMediansOverMeasuredStepsWithBucketsAddedUp) {
  // Warm-up (step -1) does not count. Step 0: exchanges of 2 ms and 3 ms make 5; step 1: 7.
  // Median 6.
  const auto document =
      phases_document({phase(0, -1, "exchange", 0, 100), phase(0, 0, "exchange", 0, 2),
                       phase(0, 0, "exchange", 1, 4), phase(0, 1, "exchange", 10, 17)},
                      0, {});
  EXPECT_EQ(document["rows"], ordered_json({{{"job", "job0"}, {"rank", 0}}}));
  EXPECT_EQ(document["median_s"], ordered_json({{0.006}}));
}

TEST(PhasesDocument, HasNoMedianForAPhaseThatARankDoesNotHave) {
  const auto document =
      phases_document({phase(0, 0, "forward", 0, 1), phase(1, 0, "aggregation", 0, 1)}, 0, {});
  // Phases in the order of their names.
  EXPECT_EQ(document["phases"], ordered_json({"aggregation", "forward"}));
  EXPECT_EQ(document["median_s"], ordered_json({{nullptr, 0.001}, {0.001, nullptr}}));
}

TEST(PhasesDocument, TellsHowLateRanksBegin) {
  // Rank 1 begins 2 ms, 4 ms and 6 ms after rank 0, which is always the first.
  std::vector<PhaseTime> times;
  for (std::int64_t step = 0; step < 3; ++step) {
    times.push_back(phase(0, step, "forward", 10 * step, 10 * step + 9));
    times.push_back(phase(1, step, "forward", 12 * step + 2, 12 * step + 9));
  }
  times.push_back(phase(2, -1, "forward", 0, 1));
  const auto late = phases_document(times, 0, {})["late_s"];
  EXPECT_EQ(late[0], ordered_json({0.0, 0.0, 0.0}));
  EXPECT_DOUBLE_EQ(late[1][0].get<double>(), 0.004);
  EXPECT_DOUBLE_EQ(late[1][2].get<double>(), 0.006);
  EXPECT_TRUE(late[2].is_null());
}

TEST(PhasesDocument, DrawsTheFirstStepsThatFit) {
  std::vector<PhaseTime> times;
  for (std::int64_t step = 0; step < 10; ++step) {
    for (const char* name : {"forward", "backward", "step"}) {
      times.push_back(phase(0, step, name, 10 * step, 10 * step + 1));
    }
  }
  // Two phases a step ("step" itself is not drawn): eight fit four steps.
  const auto timeline = phases_document(times, 0, {.segments = 8})["timeline"];
  EXPECT_EQ(timeline["to_step"], 3);
  EXPECT_EQ(timeline["steps"], 10);
  EXPECT_EQ(timeline["row"].size(), 8U);
  EXPECT_EQ(timeline["start_us"][2], 10'000);
  EXPECT_EQ(timeline["length_us"][2], 1'000);
}

TEST(PhasesDocument, DrawsNothingOfWarmUpAlone) {
  const auto document = phases_document({phase(0, -1, "forward", 0, 1)}, 0, {});
  EXPECT_TRUE(document["timeline"].is_null());
  EXPECT_TRUE(document["median_s"][0][0].is_null());
}

TEST(PhasesDocument, WholeStepsOfALogHaveMediansAndNoLanes) {
  const auto document =
      phases_document({phase(0, 0, "step", 0, 2), phase(0, 1, "step", 2, 4)}, 0, {});
  EXPECT_TRUE(document["timeline"].is_null());
  EXPECT_EQ(document["median_s"][0][0], 2e-3);
}

}  // namespace
}  // namespace tw::report
