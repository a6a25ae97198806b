// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/run_data.h"

#include "trainwire/base/error.h"
#include "trainwire/result/test_folder.h"

#include <gtest/gtest.h>

namespace tw::report {
namespace {

using nlohmann::ordered_json;
using result::TestFolder;

ordered_json run_json(const ordered_json& summary) {
  return {{"schema", 1},      {"program", "trainwire"}, {"command", "run"},
          {"complete", true}, {"provenance", {}},       {"summary", summary}};
}

TEST(RunData, ShortensTimesAndTakesThemOutOfTheSummary) {
  const TestFolder folder;
  folder.file(
      "run.json",
      run_json({{"jobs", {{{"name", "job0"}, {"step", {{"times_s", {1.0, 2.0}}}}}}}}).dump());
  const auto data = run_data(folder / "", {});
  EXPECT_EQ(data["steps"][0]["step"]["series"]["mean"], ordered_json({1.0, 2.0}));
  EXPECT_FALSE(data["summary"]["jobs"][0]["step"].contains("times_s"));
}

TEST(RunData, FallsBackToTheIterationsOfTheCapture) {
  const TestFolder folder;
  folder.file("run.json",
              run_json({{"iterations", {{"source", "inferred"}, {"times_s", {0.5}}}}}).dump());
  const auto data = run_data(folder / "", {});
  EXPECT_EQ(data["steps"][0]["source"], "inferred");
}

TEST(RunData, OfARunThatWasKilledHasWhatThereIs) {
  const TestFolder folder;
  folder.file("run.json", R"({"schema": 1, "program": "trainwire", "complete": false})");
  folder.file("steps.csv",
              "rank,step,phase,start_ns,end_ns,job\n0,0,forward,1000,2000,job0\n0,0,backw");
  const auto data = run_data(folder / "", {});
  EXPECT_FALSE(data["complete"].get<bool>());
  EXPECT_EQ(data["phases"]["rows"].size(), 1U);
  EXPECT_EQ(data["notes"], ordered_json({"steps.csv: 1 row is not whole and left out"}));
  EXPECT_TRUE(data["throughput"].is_null());
}

TEST(RunData, BeginsTimeAtTheFirstWindowOrStep) {
  const TestFolder folder;
  folder.file("run.json", run_json({}).dump());
  folder.file("steps.csv", "rank,step,phase,start_ns,end_ns,job\n0,0,forward,5000,6000,job0\n");
  folder.file("windows.csv",
              "scope,from,to,flow,start_ns,width_ns,wire_bytes\ntotal,,,,9000,1000,1\n");
  const auto data = run_data(folder / "", {});
  EXPECT_EQ(data["origin_ns"], "5000");
  EXPECT_DOUBLE_EQ(data["throughput"][0]["start_s"].get<double>(), 4e-6);
}

TEST(RunData, LooksCloselyAtTheMiddleIterationAndAtFlows) {
  const TestFolder folder;
  folder.file("run.json", run_json({}).dump());
  folder.file("windows.csv",
              "scope,from,to,flow,start_ns,width_ns,wire_bytes\n"
              "total,,,,0,1000,9\npair,a,b,,0,1000,9\nflow,a,b,0,0,1000,9\n");
  folder.file("iterations.csv", "start_ns,end_ns,exchange_start_ns\n0,4000,1000\n4000,8000,6000\n");
  folder.file("flows.csv", "flow,source,class,first_ns,last_ns,wire_bytes\n0,a,gradient,0,900,9\n");
  folder.file("iteration_pairs.csv",
              "iteration,from,to,gradient_bytes,first_ns,last_ns\n0,a,b,5,0,900\n");
  const auto data = run_data(folder / "", {});
  // Of two iterations the second is in the middle; it exchanges from 6 us on.
  EXPECT_DOUBLE_EQ(data["close"]["middle_s"].get<double>(), 6e-6);
  EXPECT_EQ(data["close"]["pairs"][0]["name"], "a > b");
  EXPECT_EQ(data["flow_rows"]["rows"][0]["rates"]["n"], 1);
  EXPECT_EQ(data["transfers"]["bytes"], ordered_json({5}));
}

TEST(RunData, FaultsAreFindingsWithWhatTheyCost) {
  const TestFolder folder;
  const ordered_json cost{
      {"job", "job0"}, {"usual_s", 0.1}, {"steps", 1}, {"longest_s", 1.1}, {"cost_s", 1.0}};
  const ordered_json down{{"kind", "link-down"},
                          {"where", "host1"},
                          {"begin_s", 1.0},
                          {"end_s", 2.0},
                          {"costs", ordered_json::array({cost})}};
  const ordered_json found{{"text", "host2 is slow"}, {"severity", "notice"}};
  folder.file("run.json", run_json({{"faults", ordered_json::array({down})},
                                    {"findings", ordered_json::array({found})}})
                              .dump());
  const ordered_json findings = run_data(folder / "", {})["summary"]["findings"];
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0]["text"],
            "link-down host1, 1 s to 2 s; 1 step of job0 took 1 s longer, the longest 1.1 s (usual "
            "100 ms)");
  EXPECT_EQ(findings[0]["severity"], "warning");
  EXPECT_EQ(findings[1]["text"], "host2 is slow");
}

TEST(RunData, TakesPointsAndTheFitOfASweep) {
  const TestFolder folder;
  folder.file("run.json", run_json({{"points", ordered_json::array()}}).dump());
  folder.file("points.csv", "folder,step_s,busbw_bps\npoint-000,1.5,\n");
  folder.file("fit.json", R"({"model": "saturation"})");
  const auto data = run_data(folder / "", {});
  EXPECT_EQ(data["points"][0]["step_s"], 1.5);
  EXPECT_TRUE(data["points"][0]["busbw_bps"].is_null());
  EXPECT_EQ(data["fit"]["model"], "saturation");
}

TEST(RunData, RefusesAFolderThatHoldsNoRun) {
  const TestFolder folder;
  EXPECT_THROW(run_data(folder / "", {}), SystemError);
}

TEST(CutTo, ShortensListsAndTextsAtWholeCharacters) {
  const Limits limits{.list_items = 2, .text_bytes = 4};
  EXPECT_EQ(cut_to({{"a", {1, 2, 3}}}, limits), ordered_json({{"a", {1, 2}}}));
  // "aaaü" has five bytes; cutting within ü would leave half a character.
  EXPECT_EQ(cut_to("aaaüx", limits), "aaa…");
  EXPECT_EQ(cut_to("aaaa", limits), "aaaa");
}

}  // namespace
}  // namespace tw::report
