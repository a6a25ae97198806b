// SPDX-License-Identifier: Apache-2.0
#include "trainwire/study/comparison.h"

#include "trainwire/base/error.h"
#include "trainwire/record/json.h"
#include "trainwire/study/limit.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace tw::study {
namespace {

using nlohmann::ordered_json;

ComparedRun run_with(std::vector<double> steps, std::vector<std::string> settings = {}) {
  return {.settings = std::move(settings),
          .jobs = {{.name = "job0", .step_times_s = std::move(steps)}}};
}

TEST(CompareRuns, HasARowForEachStatisticOfWhatBothHave) {
  ComparedRun a = run_with({1, 1, 1, 1, 1, 1});
  ComparedRun b = run_with({2, 2, 2, 2, 2, 2});
  a.wire_bytes = 1000;
  b.wire_bytes = 1100;
  const Comparison found = compare_runs(a, b, "b");
  // Mean, median and p99 of steps, and the bytes; neither has exchanges.
  ASSERT_EQ(found.rows.size(), 4u);
  EXPECT_EQ(title(found.rows[0]), "step mean");
  EXPECT_DOUBLE_EQ(found.rows[0].relative, 1);
  EXPECT_EQ(found.rows[3].text, "more by 10.0 % (counted, no test)");
}

TEST(CompareRuns, TellsWhetherAccuraciesDifferBeyondChance) {
  ComparedRun a = run_with({1, 1, 1, 1, 1, 1});
  ComparedRun b = a;
  a.jobs[0].learning = record::Learning{.test_samples = 10'000, .accuracy = 0.9};
  b.jobs[0].learning = record::Learning{.test_samples = 10'000, .accuracy = 0.895};
  // Each has a standard error of 0.3 points, their difference one of 0.43.
  const Comparison near = compare_runs(a, b, "b");
  EXPECT_EQ(title(near.rows[3]), "accuracy in the end");
  EXPECT_EQ(near.rows[3].text, "no difference is sure: -0.50 ±0.84 points");
  b.jobs[0].learning->accuracy = 0.85;
  EXPECT_THAT(compare_runs(a, b, "b").rows[3].text, testing::StartsWith("lower by 5.00"));
}

TEST(CompareRuns, TellsHowStaleModelsWere) {
  ComparedRun a = run_with({1, 1, 1, 1, 1, 1});
  a.jobs[0].learning = record::Learning{.staleness = record::Staleness{.mean = 2, .most = 5}};
  ComparedRun b = a;
  b.jobs[0].learning->staleness->mean = 3;
  const Comparison found = compare_runs(a, b, "b");
  ASSERT_EQ(found.rows.size(), 5u);
  EXPECT_EQ(title(found.rows[4]), "staleness mean");
  EXPECT_EQ(found.rows[4].text, "staler by 50.0 % (counted, no test)");
  b.jobs[0].learning->staleness.reset();
  EXPECT_EQ(compare_runs(a, b, "b").rows.size(), 4u);
}

TEST(CompareRuns, TellsWhatItTookToTheAccuracyThatBothReached) {
  ComparedRun a = run_with({1, 1, 1, 1, 1, 1});
  a.jobs[0].learning =
      record::Learning{.target = record::LearningTarget{
                           .accuracy = 0.85, .step = 10, .time_s = 2.0, .sent_bytes = 1000}};
  ComparedRun b = a;
  b.jobs[0].learning->target->time_s = 1.0;
  b.jobs[0].learning->target->sent_bytes = 500;
  const Comparison found = compare_runs(a, b, "b");
  ASSERT_EQ(found.rows.size(), 6u);
  EXPECT_EQ(title(found.rows[4]), "to_target 85 %");
  EXPECT_EQ(found.rows[4].text, "faster by 50.0 % (counted, no test)");
  EXPECT_EQ(title(found.rows[5]), "bytes to 85 %");
  b.jobs[0].learning->target->time_s.reset();
  EXPECT_EQ(compare_runs(a, b, "b").rows.size(), 4u);
}

TEST(CompareFolders, TakesPointsOfTheSameSettings) {
  const std::vector<double> steps(5, 1);
  const ComparedFolder a{.path = "a",
                         .command = "run",
                         .sweep = true,
                         .runs = {run_with(steps, {"x=1"}), run_with(steps, {"x=2"})}};
  const ComparedFolder b{
      .path = "b", .command = "run", .sweep = true, .runs = {run_with(steps, {"x=2"})}};
  const auto found = compare_folders(a, b);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].settings, std::vector<std::string>{"x=2"});
  const ComparedFolder run{.path = "c", .command = "run", .runs = {run_with(steps)}};
  EXPECT_THROW(compare_folders(a, run), SpecError);
}

TEST(CompareFolders, TellsASimulationFromAMeasurement) {
  const ComparedFolder run{.path = "a", .command = "run", .runs = {run_with({1, 1.1, 1, 1, 1})}};
  const ComparedFolder sim{.path = "b", .command = "sim", .runs = {run_with({2, 2, 2, 2, 2})}};
  EXPECT_THAT(
      compare_folders(run, sim).at(0).differing,
      testing::ElementsAre(SettingDifference{.key = "command", .baseline = "run", .other = "sim"}));
  EXPECT_TRUE(compare_folders(run, run).at(0).differing.empty());
  const ComparedFolder captured{
      .path = "c", .command = "analyze", .runs = {run_with({2, 2, 2, 2, 2})}};
  EXPECT_TRUE(compare_folders(run, captured).at(0).differing.empty());
}

TEST(DifferingSettings, AreNamedAsTheFileNamesThem) {
  const auto setting = [](const ordered_json& value, const char* origin = "file") -> ordered_json {
    return {{"value", value}, {"origin", origin}};
  };
  const auto experiment = [&](const char* model, double rate, int queue) -> ordered_json {
    return {{"name", setting(model)},
            {"network", {{"rate_bps", setting(rate)}, {"queue_bytes", setting(queue, "derived")}}},
            {"jobs", {{{"model", setting(model)}, {"batch", setting(64)}}}}};
  };
  EXPECT_THAT(
      differing_settings(record::value_from(experiment("resnet50", 1e9, 5)),
                         record::value_from(experiment("vgg16", 1e10, 6))),
      testing::ElementsAre(
          SettingDifference{.key = "job.model", .baseline = "resnet50", .other = "vgg16"},
          SettingDifference{.key = "network.rate", .baseline = "1 Gbit/s", .other = "10 Gbit/s"}));
  EXPECT_TRUE(differing_settings({}, record::value_from(experiment("vgg16", 1, 1))).empty());
}

TEST(Limit, ReadsThreeForms) {
  EXPECT_DOUBLE_EQ(parse_limit("+3%").share, 0.03);
  EXPECT_FALSE(parse_limit("+3%").down);
  EXPECT_FALSE(parse_limit("-2.5 %").up);
  EXPECT_TRUE(parse_limit("5%").up && parse_limit("5%").down);
}

TEST(Limit, RefusesOtherText) {
  for (const char* text : {"", "3", "+%", "+-3%", "--3%", "3%%", "nan%", "inf%", "+3 percent"}) {
    EXPECT_THROW(parse_limit(text), SpecError) << text;
  }
}

}  // namespace
}  // namespace tw::study
