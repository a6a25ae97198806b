// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/run_entry.h"

#include "trainwire/record/json.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace tw::serve {
namespace {

using nlohmann::ordered_json;
using testing::ElementsAre;

/// As serve does it: of a run.json and the document that has the experiment.
ordered_json entry_of(const char* run_json, const char* described) {
  return run_entry(record::run_file_from(ordered_json::parse(run_json)),
                   record::run_from(ordered_json::parse(described)));
}

constexpr const char* kExperiment = R"({"experiment": {"name": {"value": "ring of four"},
  "network": {"hosts": {"value": 4}}, "jobs": [{"model": {"value": "resnet50"}}]}})";

TEST(RunEntry, TellsOfARun) {
  const ordered_json entry = entry_of(R"({"command": "run",
    "provenance": {"started": "2026-11-15T18:59:44Z"},
    "summary": {"jobs": [{"name": "job0", "strategy": "ring", "ranks": 4, "steps": 2,
                          "step": {"mean_s": 0.25, "times_s": [0.2, 0.3]}}],
      "duration_s": 6.5, "checks": [{"ok": true}, {"ok": false}, {"ok": true}]}})",
                                      kExperiment);
  EXPECT_EQ(entry["command"], "run");
  EXPECT_EQ(entry["name"], "ring of four");
  EXPECT_EQ(entry["started"], "2026-11-15T18:59:44Z");
  EXPECT_EQ(entry["jobs"], ordered_json::parse(R"([{"name": "job0", "model": "resnet50",
    "strategy": "ring", "ranks": 4}])"));
  EXPECT_EQ(entry["hosts"], 4);
  EXPECT_TRUE(entry["points"].is_null());
  EXPECT_EQ(entry["step_mean_s"], 0.25);
  EXPECT_EQ(entry["steps"], 2);
  EXPECT_EQ(entry["duration_s"], 6.5);
  EXPECT_EQ(entry["checks"], ordered_json::parse(R"({"ok": 2, "failed": 1})"));
  EXPECT_EQ(entry["sparkline"], ordered_json({0.2, 0.3}));
  EXPECT_EQ(entry["sparkline_of"], "step times, s");
}

TEST(RunEntry, TellsOfACaptureByItsIterations) {
  const ordered_json entry = entry_of(
      R"({"summary": {"hosts": [{}, {}, {}], "capture": {"duration_s": 1.5},
        "iterations": {"count": 6, "mean_s": 0.2, "times_s": [0.1, 0.3]}}})",
      "{}");
  EXPECT_EQ(entry["hosts"], 3);
  EXPECT_EQ(entry["steps"], 6);
  EXPECT_EQ(entry["step_mean_s"], 0.2);
  EXPECT_EQ(entry["duration_s"], 1.5);
  EXPECT_EQ(entry["sparkline"], ordered_json({0.1, 0.3}));
  EXPECT_TRUE(entry["checks"].is_null());
}

TEST(RunEntry, TellsOfASweepByItsPoints) {
  const ordered_json entry = entry_of(R"({"summary": {"points": [
      {"checks_ok": true, "jobs": [{"name": "job0", "step": {"mean_s": 0.1}}]},
      {"checks_ok": false, "jobs": []},
      {"checks_ok": true, "jobs": [{"step": {"mean_s": 0.3}}]}]}})",
                                      kExperiment);
  EXPECT_EQ(entry["points"], 3);
  EXPECT_EQ(entry["jobs"][0]["model"], "resnet50");
  EXPECT_EQ(entry["checks"], ordered_json::parse(R"({"ok": 2, "failed": 1})"));
  EXPECT_EQ(entry["sparkline"], ordered_json({0.1, 0.3}));
  EXPECT_TRUE(entry["step_mean_s"].is_null());
}

TEST(RunEntry, HasNullForWhatIsNotThereOrOfAnotherType) {
  for (const char* text :
       {"{}", R"({"summary": 7})", R"({"summary": {"jobs": {}, "points": {}}})",
        R"({"command": [], "provenance": [], "summary": {"jobs": [[], 7], "checks": 1,
            "duration_s": "x", "iterations": [], "hosts": {}}})",
        R"({"summary": {"points": [7, [], {}]}})"}) {
    const ordered_json entry = entry_of(text, R"({"experiment": [7]})");
    EXPECT_TRUE(entry["name"].is_null()) << text;
    EXPECT_TRUE(entry["duration_s"].is_null()) << text;
    EXPECT_TRUE(entry["sparkline"].is_null()) << text;
    EXPECT_EQ(entry.size(), 12U) << text;
  }
}

TEST(AddLive, FillsInWhatARunHasToldSoFar) {
  ordered_json entry = entry_of("{}", "{}");
  add_live(entry, {.header =
                       record::LiveHeader{
                           .name = "n",
                           .hosts = {"a", "b"},
                           .jobs = {{.name = "j", .model = "m", .strategy = "ring", .ranks = 2}}},
                   .samples = {{.sent_bps = {1, 2}}, {.sent_bps = {3, 4}}}});
  EXPECT_EQ(entry["name"], "n");
  EXPECT_EQ(entry["hosts"], 2);
  EXPECT_EQ(entry["jobs"][0]["strategy"], "ring");
  // 1 + 2 and 3 + 4.
  EXPECT_EQ(entry["sparkline"], ordered_json({3.0, 7.0}));
  EXPECT_EQ(entry["sparkline_of"], "sent by all hosts, bit/s");
}

TEST(Shortened, TakesTheMeansOfNeighbours) {
  const std::vector<double> values{1, 3, 5, 7, 9};
  // Five into at most three: twos, and the last alone.
  EXPECT_THAT(shortened(values, 3), ElementsAre(2, 6, 9));
  EXPECT_THAT(shortened(values, 60), ElementsAre(1, 3, 5, 7, 9));
  EXPECT_THAT(shortened({}, 60), ElementsAre());
  EXPECT_LE(shortened(std::vector<double>(61, 1.0), 60).size(), 60U);
}

}  // namespace
}  // namespace tw::serve
