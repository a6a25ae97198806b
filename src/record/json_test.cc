// SPDX-License-Identifier: Apache-2.0
#include "trainwire/record/json.h"

#include "trainwire/result/json_text.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace tw::record {
namespace {

using nlohmann::ordered_json;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::Eq;
using testing::Optional;

ordered_json document(const std::string& name) {
  return result::read_json(TW_SOURCE_DIR "/src/record/documents/" + name + ".json");
}

Run read(const char* text) { return run_from(ordered_json::parse(text)); }

TEST(Json, WritesBackToTheByteWhatItReads) {
  for (const char* name : {"analyze", "exec", "loopback", "run", "sweep"}) {
    const ordered_json before = document(name);
    ASSERT_TRUE(before.is_object()) << name;
    EXPECT_EQ(dumped(to_json(run_from(before))), dumped(before));
  }
}

TEST(Json, ReadsWhatARunHasFound) {
  const record::Run run = run_from(document("run"));
  EXPECT_EQ(run.engine, "nfqueue");
  EXPECT_EQ(run.jobs.at(0).strategy, "ring");
  EXPECT_EQ(run.jobs.at(0).step->times_s.size(), 4U);
  EXPECT_EQ(run.network.links.size(), 6U);  // three hosts, two directions
  EXPECT_EQ(run.cross_traffic->entries.size(), 2U);
  EXPECT_EQ(number_of(setting(run, "network.hosts")), 3);
  EXPECT_EQ(text_of(setting(run, "jobs.0.strategy")), "ring");
  EXPECT_EQ(setting(run, "jobs.1.strategy"), nullptr);
}

TEST(Json, PassesOverWhatItDoesNotKnow) {
  EXPECT_EQ(read(R"({"engine": "tap", "weather": {"wind": 3}})").engine, "tap");
}

TEST(Json, TakesAnotherTypeForNothing) {
  const record::Run run = read(R"({"engine": 7, "capture": [], "hosts": {}, "duration_s": "long",
    "jobs": [7, {"name": [], "ranks": -1, "steps": 1.5, "step": 3}], "model_bytes": 1e300,
    "iterations": {"count": 18446744073709551616, "mean_s": null, "times_s": "x"}})");
  EXPECT_EQ(run.engine, std::nullopt);
  EXPECT_EQ(run.capture, std::nullopt);
  EXPECT_TRUE(run.hosts.empty());
  EXPECT_EQ(run.duration_s, std::nullopt);
  EXPECT_THAT(run.jobs, ElementsAre(Job{}, Job{}));
  EXPECT_EQ(run.model_bytes, std::nullopt);
  EXPECT_EQ(run.iterations, Iterations{});
  for (const char* text : {"null", "7", "[]", "\"x\"", "{}"})
    EXPECT_EQ(read(text), record::Run{}) << text;
}

TEST(Json, KeepsThePlaceOfAnElementThatIsNoNumber) {
  const record::Run run = read(R"({"jobs": [{"step": {"times_s": [1, "x", 3]}}]})");
  const std::vector<double>& times = run.jobs.at(0).step->times_s;
  ASSERT_EQ(times.size(), 3U);
  EXPECT_EQ(times[0], 1);
  EXPECT_TRUE(std::isnan(times[1]));
}

TEST(Json, HasIterationsOfALogWithoutPackets) {
  record::Run run;
  run.iterations = Iterations{.count = 2, .source = "log", .confidence = 1};
  EXPECT_EQ(to_json(run)["iterations"],
            ordered_json::parse(R"({"count": 2, "source": "log", "confidence": 1.0})"));
}

TEST(Json, KeepsWhatWasWatched) {
  record::Run run{.command = "watch"};
  run.watched = Watched{.process = 4711,
                        .seconds = 30,
                        .packets = "captured on lo",
                        .ways = {{.local = "10.0.0.1", .remote = "10.0.0.2", .sent_bytes = 7}},
                        .devices = {{.name = "eth0", .peak_sent_bps = 1e9}},
                        .rdma_counters = {{"mlx5_0/1 out_of_sequence", 3}}};
  EXPECT_EQ(run_from(to_json(run)).watched, run.watched);
}

TEST(Json, HasFaultsWhereThereWereSome) {
  record::Run run;
  EXPECT_FALSE(to_json(run).contains("faults"));
  run.faults = {
      {.kind = "link-down",
       .where = "host0",
       .begin_s = 1,
       .costs = {{.job = "job0", .usual_s = 2, .steps = 3, .longest_s = 4, .cost_s = 5}}}};
  EXPECT_EQ(run_from(to_json(run)), run);
}

TEST(Json, HasRecoveriesAndCheckpointsWhereThereWereSome) {
  record::Run run;
  EXPECT_FALSE(to_json(run).contains("recoveries"));
  run.recoveries = {{.job = "job0",
                     .policy = "shrink",
                     .what = "rank 1 is gone",
                     .noticed_s = 1,
                     .notice = "silence",
                     .step = 7,
                     .lost_steps = 2,
                     .bytes = 3,
                     .recovery_s = 0.5,
                     .back_s = 0.75,
                     .ranks = 3}};
  run.jobs = {{.name = "job0", .checkpoints = Checkpoints{.written = 4, .failed = 1, .bytes = 9}}};
  EXPECT_EQ(run_from(to_json(run)), run);
}

TEST(Json, HasTheVerdictAndItsAccounting) {
  record::Run run;
  EXPECT_FALSE(to_json(run).contains("verdict"));
  run.accounting = Accounting{.method = "simulated",
                              .step_s = 3,
                              .parts = {{.name = "compute", .seconds = 1, .low_s = 1, .high_s = 1},
                                        {.name = "loss", .seconds = 2, .low_s = 1, .high_s = 3}},
                              .not_visible = {"all else"}};
  run.verdict = Verdict{.cause = "loss",
                        .where = "host1",
                        .cost_s = 2,
                        .share = 0.5,
                        .gain_s = 2,
                        .gain_ci = {1, 3},
                        .confidence = 0.9,
                        .text = "Loss."};
  run.jobs = {{.accounting = run.accounting, .verdict = run.verdict}};
  const ordered_json written = to_json(run);
  EXPECT_EQ(run_from(written), run);
  EXPECT_EQ(written["accounting"]["repair_s"], 2);
  EXPECT_EQ(written["accounting"]["bandwidth_s"], 0);
  EXPECT_EQ(written["verdict"]["gain_ci"], ordered_json::parse("[1.0, 3.0]"));
}

TEST(Value, IsWrittenAsItWasRead) {
  const ordered_json before =
      ordered_json::parse(R"({"b": [1, 2.5, -3, true, null, "x"], "a": {"c": []},
        "large": 18446744073709551615})");
  EXPECT_EQ(to_json(value_from(before)).dump(), before.dump());
}

TEST(Value, IsFoundByItsPath) {
  const Value value = value_from(ordered_json::parse(R"({"a": [{"b": 7}], "t": "x"})"));
  EXPECT_THAT(number_of(find(value, "a.0.b")), Optional(DoubleEq(7)));
  EXPECT_THAT(text_of(find(value, "t")), Optional(Eq("x")));
  for (const char* path : {"b", "a.1.b", "a.x", "t.0", "a.0.b.c"}) {
    EXPECT_EQ(find(value, path), nullptr) << path;
  }
}

}  // namespace
}  // namespace tw::record
