// SPDX-License-Identifier: Apache-2.0
// What an experiment expects of a command decides how the command exits; tests/expectations.py has
// those that start ranks.
#include "trainwire/capture/ladder.h"
#include "trainwire/cli/test_captures.h"
#include "trainwire/cli/test_program.h"
#include "trainwire/result/test_folder.h"
#include "trainwire/spec/fields.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace tw::cli {
namespace {

using nlohmann::ordered_json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// An experiment that expects `metric` of a command to be what `bound` says.
std::string experiment(std::string_view of, std::string_view metric, std::string_view bound) {
  return fmt::format(
      "[network]\nhosts = 4\n[[job]]\nparameters = \"1MB\"\n[[expect]]\nof = \"{}\"\nmetric = "
      "\"{}\"\n{}\n",
      of, metric, bound);
}

/// A command line, and a number of its document.
struct Claim {
  std::vector<std::string> words;
  std::string metric;
  double value;
  bool takes_experiment = false;
};

class Expectations : public testing::Test {
 protected:
  Result judged(const Claim& claim, const std::string& bound, const std::string& more = "") {
    const std::string file =
        folder_.file("e.toml", experiment(claim.words.front(), claim.metric, bound));
    std::vector<std::string> words = claim.words;
    if (!claim.takes_experiment) words.emplace_back("--expect");
    words.push_back(file);
    if (!more.empty()) words.push_back(more);
    return trainwire(words);
  }

  /// Held, missed and not to be found: 0, 1 and 1.
  void check(const Claim& claim) {
    const std::string right = fmt::format("equals = {}", claim.value);
    const Result held = judged(claim, right);
    EXPECT_EQ(held.code, 0) << held.err;
    EXPECT_THAT(held.out, HasSubstr(fmt::format("expectations\n  ok    {}: expected {}",
                                                claim.metric, claim.value)));
    EXPECT_THAT(held.err, Not(HasSubstr("EXPECTED")));

    const std::string wrong = fmt::format("at_least = {}", claim.value + 1);
    const Result missed = judged(claim, wrong);
    EXPECT_EQ(missed.code, 1) << missed.err;
    const std::string text = fmt::format("{}: expected at least {}, found {}", claim.metric,
                                         claim.value + 1, claim.value);
    EXPECT_THAT(missed.out, HasSubstr("  FAIL  " + text));
    EXPECT_THAT(missed.err, HasSubstr("trainwire: NOT AS EXPECTED: " + text));

    const Result document = judged(claim, wrong, "--json");
    EXPECT_EQ(document.code, 1);
    const auto list = ordered_json::parse(document.out)["expectations"];
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0]["metric"], claim.metric);
    EXPECT_EQ(list[0]["ok"], false);
    EXPECT_EQ(list[0]["found"], claim.value);

    Claim nowhere = claim;
    nowhere.metric += "x";
    const Result unknown = judged(nowhere, right);
    EXPECT_EQ(unknown.code, 1);
    EXPECT_THAT(unknown.err, HasSubstr(fmt::format("did you mean \"{}\"?", claim.metric)));
  }

  result::TestFolder folder_;
};

TEST_F(Expectations, OfPlan) {
  // A ring of four sends 2(4-1)/4 of 1 MB.
  check({.words = {"plan"},
         .metric = "jobs.0.step.rank_sent_bytes",
         .value = 1500000,
         .takes_experiment = true});
}

TEST_F(Expectations, OfAnalyze) {
  const auto bytes = capture::ladder_pcap(ring_ladder(20), {.snaplen = 96});
  const std::string capture = folder_.file(
      "job.pcap", std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  check({.words = {"analyze", capture, "--no-folder"}, .metric = "capture.packets", .value = 2400});
}

TEST_F(Expectations, OfFit) {
  const std::string table =
      folder_.file("rows.csv", "bytes,time_s\n1000,0.002\n2000,0.003\n3000,0.004\n4000,0.005\n");
  check({.words = {"fit", table}, .metric = "confidence", .value = 0.95});
}

/// A folder as a sweep leaves it, whose experiment has expectations of its own.
std::string sweep(const result::TestFolder& folder, double n) {
  const std::string path = folder / "sweep";
  std::filesystem::create_directory(path);
  std::string rows =
      "folder,settings,complete,checks_ok,step_mean_s,step_p99_s,demand_bytes,scale,capacity_bps,"
      "traffic_requested_bps,traffic_achieved_bps\n";
  for (int x = 0; x < 8; ++x) {
    rows += fmt::format("point-{:03},traffic.0.load={},1,1,{},{},1000,1,1e9,{},{}\n", x, x / 10.0,
                        1 / (1 - x / 10.0), 1 / (1 - x / 10.0), x * 1e8, x * 1e8);
  }
  std::ofstream(path + "/points.csv") << rows;
  const ordered_json expected{{"of", {{"value", "fit"}}},
                              {"metric", {{"value", "n"}}},
                              {"equals", {{"value", n}}},
                              {"tolerance", {{"value", 0}}}};
  std::ofstream(path + "/run.json") << ordered_json{
      {"schema", 1},
      {"program", "trainwire"},
      {"command", "run"},
      {"complete", true},
      {"summary", {{"sweep", {{"points", 8}}}, {"experiment", {{"expectations", {expected}}}}}}};
  return path;
}

TEST_F(Expectations, OfASweepsFitComeWithTheSweep) {
  EXPECT_EQ(trainwire({"fit", sweep(folder_, 8)}).code, 0);
  const Result missed = trainwire({"fit", sweep(folder_, 9)});
  EXPECT_EQ(missed.code, 1);
  EXPECT_THAT(missed.err, HasSubstr("NOT AS EXPECTED: n: expected 9 ±0%, found 8"));
  // Others may be given instead.
  const std::string other = folder_.file("e.toml", experiment("fit", "n", "equals = 8"));
  EXPECT_EQ(trainwire({"fit", sweep(folder_, 9), "--expect", other}).code, 0);
}

std::string run_of(const result::TestFolder& folder, const std::string& name, double step) {
  const std::string path = folder / name;
  std::filesystem::create_directory(path);
  std::vector<double> times;
  for (int i = 0; i < 30; ++i) times.push_back(step * (1 + 0.001 * (i % 5)));
  std::ofstream(path + "/run.json") << ordered_json{
      {"schema", 1},
      {"program", "trainwire"},
      {"command", "run"},
      {"complete", true},
      {"summary", {{"jobs", {{{"name", "job0"}, {"step", {{"times_s", times}}}}}}}}};
  return path;
}

TEST_F(Expectations, OfCompare) {
  check({.words = {"compare", run_of(folder_, "a", 0.1), run_of(folder_, "b", 0.1)},
         .metric = "comparisons.0.steps",
         .value = 30});
}

TEST_F(Expectations, AreOfCommandsThatThereAre) {
  for (const std::string_view name : spec::kJudgingCommands) {
    EXPECT_TRUE(std::any_of(commands().begin(), commands().end(),
                            [&](const command::Command& command) { return command.name == name; }))
        << name;
  }
  const Result unknown =
      trainwire({"plan", folder_.file("e.toml", experiment("analyse", "n", "equals = 8"))});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean \"analyze\"?"));
  EXPECT_EQ(
      trainwire({"plan", folder_.file("e.toml", experiment("doctor", "n", "equals = 8"))}).code, 2);
}

}  // namespace
}  // namespace tw::cli
