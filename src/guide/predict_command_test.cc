// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/command/app.h"
#include "trainwire/guide/commands.h"
#include "trainwire/guide/fitted_run.h"
#include "trainwire/record/run_folder.h"
#include "trainwire/result/test_folder.h"
#include "trainwire/sim/describe.h"
#include "trainwire/sim/simulate.h"
#include "trainwire/spec/parse.h"
#include "trainwire/workload/vocabulary.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace tw::guide {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kRing = R"(
name = "four in a ring"
[network]
hosts = 4
rate = "1Gbit"
delay = "50us"
[[job]]
parameters = "10MB"
compute_time = "20ms"
steps = 6
warmup = 1
)";
constexpr const char* kExpected = R"([[expect]]
of = "predict"
metric = "jobs.0.step.median_s"
equals = 0.1456
)";

class Predict : public testing::Test {
 protected:
  /// What `trainwire predict` prints of that experiment with these options.
  std::string printed(const std::vector<std::string>& options, std::string_view text = kRing) {
    return printed_of(folder_.file("e.toml", text), options);
  }
  std::string printed_of(const std::string& path, std::vector<std::string> options) {
    const command::Command only{"predict", "", declare_predict, ""};
    command::Application application({&only, 1});
    options.insert(options.begin(), {"predict", path});
    application.parse(options);
    std::ostringstream out;
    code_ = (*application.body())({.out = out, .err = out});
    return out.str();
  }
  std::string refused(const std::vector<std::string>& options, std::string_view text = kRing) {
    try {
      return "printed: " + printed(options, text);
    } catch (const Error& error) {
      return error.what();
    }
  }

  result::TestFolder folder_;
  int code_ = -1;
};

TEST_F(Predict, SaysStepIntervalPartsAndWhatBinds) {
  const std::string text = printed({});
  EXPECT_EQ(code_, 0);
  EXPECT_THAT(text, HasSubstr("a step takes 145.6 ms ("));
  EXPECT_THAT(text, HasSubstr("90 % interval"));
  EXPECT_THAT(text, HasSubstr("made of     transfer 125.5 ms, compute 20 ms"));
  EXPECT_THAT(
      text,
      HasSubstr("bound by    transfer (host0, way out); once that is 6.27 times less, compute"));
  EXPECT_THAT(text, HasSubstr("found by    formula"));
  EXPECT_THAT(text, HasSubstr("runs that were not used"));
}

TEST_F(Predict, HasADocument) {
  const json document = json::parse(printed({"--json", "--what-if", "network.rate=2Gbit,10Gbit",
                                             "--scale", "2..8", "--need", "step=100ms"},
                                            std::string(kRing) + kExpected));
  EXPECT_EQ(document.at("schema"), 1);
  const json& job = document.at("jobs").at(0);
  EXPECT_LT(job.at("step").at("ci_low_s"), job.at("step").at("median_s"));
  EXPECT_NEAR(job.at("accounting").at("compute_s").get<double>(), 0.020, 1e-6);
  EXPECT_EQ(job.at("binding").at("resource"), "bandwidth");
  EXPECT_EQ(document.at("what_if").size(), 2u);
  EXPECT_EQ(document.at("what_if").at(1).at("settings").at("network.rate"), "10Gbit");
  EXPECT_EQ(document.at("scale").size(), 3u);
  EXPECT_TRUE(document.contains("break_even_ranks"));
  EXPECT_NEAR(document.at("need").at("rate_bps").at("value").get<double>(), 1.57e9, 0.02e9);
  EXPECT_TRUE(document.at("expectations").at(0).at("ok"));
}

TEST_F(Predict, SaysWhatComputingHidesWhereThatDecides) {
  const std::string overlapped =
      "[network]\nhosts = 8\nrate = \"25Gbit\"\ndelay = \"5us\"\n[[job]]\nmodel = "
      "\"resnet50\"\nbatch = 32\n"
      "bucket = \"25MB\"\noverlap = true\nsteps = 3\n";
  EXPECT_THAT(printed({}, overlapped), HasSubstr("transfer; it hides much of an exchange of"));
  const std::string behind = overlapped + "compute_time = \"2s\"\n";
  EXPECT_THAT(printed({}, behind), testing::Not(HasSubstr("it hides")));
}

TEST_F(Predict, IntervalsSayWhereTheyComeFromAndNoMore) {
  const json job = json::parse(printed({"--json", "--brief"})).at("jobs").at(0);
  EXPECT_EQ(job.at("interval_sources").size(), 1u);
  EXPECT_GT(job.at("interval_sources").at("form").get<double>(), 0);
  EXPECT_THAT(job.at("interval_text").get<std::string>(), HasSubstr("jobs like this (bandwidth)"));
  // Ten times the fastest that was measured: 2 % for each of 2.3 e-folds, which are 4.7 %.
  const json faster =
      json::parse(printed({"--json", "--brief", "--set", "network.rate=10Gbit"})).at("jobs").at(0);
  EXPECT_DOUBLE_EQ(faster.at("interval_sources").at("extrapolation"), 0.0461);
  EXPECT_THAT(faster.at("interval_text").get<std::string>(),
              HasSubstr("; 4.7 % hosts and rates beyond what was measured"));
}

TEST_F(Predict, AnswersByFormulaAloneOrSaysWhyNot) {
  EXPECT_THAT(printed({"--level", "formula"}), HasSubstr("found by    formula"));
  EXPECT_THAT(refused({"--level", "formula", "--set", "network.loss=0.1%"}),
              HasSubstr("the formula does not hold: links lose packets"));
}

// The ring has a formula; trees have none, and few packets here.
TEST_F(Predict, RowsFoundInAnotherWaySaySo) {
  const std::vector<std::string> asked{"--brief", "--what-if", "job.strategy=ring,double_tree"};
  EXPECT_THAT(printed(asked),
              HasSubstr("\n  found by formula (1 row), packet simulation (1 row)\n"));
  EXPECT_THAT(printed({"--brief", "--what-if", "network.rate=2Gbit"}),
              testing::Not(HasSubstr("\n  found by formula (")));
}

TEST_F(Predict, PrintsTablesAsCsv) {
  const std::string text = printed({"--csv", "--what-if", "network.rate=1Gbit,2Gbit"});
  EXPECT_THAT(text,
              HasSubstr("network.rate,step_s,step_low_s,step_high_s,method,problem\n1Gbit,0.1455"));
  EXPECT_THAT(printed({"--csv", "--scale", "2,4"}), HasSubstr("ranks,workers,step_s"));
}

TEST_F(Predict, TablesHaveRowsWithoutAnAnswerAndAllJobs) {
  const std::string servers =
      "[network]\nhosts = 4\n[[job]]\nstrategy = \"ps\"\nservers = 2\n"
      "parameters = \"1MB\"\ncompute_time = \"10ms\"\nsteps = 3\n";
  EXPECT_THAT(printed({"--brief", "--csv", "--scale", "2,4"}, servers),
              HasSubstr("\n2,,,,,,,,,,,,"));
  const std::string two = std::string(kRing) + "hosts = [\"host0\", \"host1\"]\n[[job]]\n" +
                          "name = \"b\"\nparameters = \"1MB\"\ncompute_time = \"10ms\"\n" +
                          "hosts = [\"host2\", \"host3\"]\n";
  const std::string text = printed({"--brief", "--csv", "--what-if", "network.rate=2Gbit"}, two);
  EXPECT_THAT(text, HasSubstr("network.rate,job,step_s"));
  EXPECT_THAT(text, HasSubstr("2Gbit,job0,"));
  EXPECT_THAT(text, HasSubstr("2Gbit,b,"));
}

TEST_F(Predict, NextHasWhatThisHad) {
  EXPECT_THAT(
      printed({"--set", "network.rate=333Mbit", "--set", "job.hosts=[\"host0\", \"host1\"]"}),
      HasSubstr(" --set network.rate=333Mbit --set 'job.hosts=[\"host0\", \"host1\"]' "
                "--what-if network.rate=670Mbit,1.3Gbit\n"));
}

TEST_F(Predict, OneRankIsNotSlowerThanOneRank) {
  EXPECT_THAT(printed({"--scale", "1"}), HasSubstr("one rank waits for nobody"));
}

TEST_F(Predict, NeedsHaveIntervalsWithOneEnd) {
  EXPECT_THAT(printed({"--need", "step=20700us"}), HasSubstr(" to more than 1.6 Tbit/s) on every"));
}

TEST_F(Predict, RefusesInASentence) {
  EXPECT_THAT(refused({"--what-if", "network.rat=1Gbit"}),
              HasSubstr("unknown key; did you mean \"rate\"?"));
  EXPECT_THAT(refused({"--what-if", "network.rate=1Gbit", "--what-if", "network.rate=2Gbit"}),
              HasSubstr("is there twice"));
  EXPECT_THAT(refused({"--set", "job.compute_time=0ms", "--scale", "2..8"}),
              HasSubstr("it has no compute time"));
  EXPECT_THAT(refused({"--set", "job.compute_time=0ms", "--need", "efficiency=0.9"}),
              HasSubstr("it has no compute time"));
  EXPECT_THAT(refused({"--scale", "2..200000"}), HasSubstr("--force"));
  EXPECT_THAT(refused({"--csv"}), HasSubstr("one table can be printed"));
  EXPECT_THAT(printed({"--what-if", "network.loss=0.5"}), HasSubstr("no answer: 50 % of loss"));
  const std::string faulty =
      std::string(kRing) +
      "[[fault]]\nkind = \"link-down\"\nlink = \"host1\"\nat = \"1s\"\nfor = \"1s\"\n";
  EXPECT_THAT(refused({}, faulty), HasSubstr("`trainwire sim` tells"));
  EXPECT_THAT(refused({"--set", "network.rate=5Tbit"}), HasSubstr("--force answers all the same"));
  EXPECT_THAT(printed({"--set", "network.rate=5Tbit", "--force"}), HasSubstr("FORCED"));
}

/// A run whose steps took `factor` times what a simulation says.
std::string run_of(const std::string& folder, double factor, bool checks_ok = true) {
  const spec::Experiment experiment = spec::parse(kRing, "e.toml", workload::vocabulary());
  record::Run run = sim::described(experiment, sim::simulate(experiment));
  run.command = "run";
  run.jobs[0].step->median_s *= factor;
  run.checks = {{.name = "sums", .ok = checks_ok, .text = "12 elements wrong"}};
  record::RunFolder kept(folder,
                         {.command = "run", .command_line = {}, .version = "", .commit = ""},
                         result::IfThere::Refuse);
  kept.finish(run);
  return folder;
}

TEST_F(Predict, TakesARunInPlaceOfAFile) {
  const std::string run = run_of(folder_ / "a.run", 1.1);
  const json document =
      json::parse(printed_of(run, {"--brief", "--json", "--what-if", "network.rate=2Gbit"}));
  EXPECT_NEAR(document.at("jobs").at(0).at("step").at("median_s").get<double>(), 1.1 * 0.1456,
              1e-3);
  EXPECT_NEAR(document.at("like").at("jobs").at(0).at("measured_s").get<double>(), 1.1 * 0.1456,
              1e-3);
  const double faster = document.at("what_if").at(0).at("step").at("median_s");
  EXPECT_GT(faster, 0.083);  // 20 ms and half of 125.6, 2 % to 12 % more
  EXPECT_LT(faster, 0.093);
  const std::string text = printed_of(run, {"--brief"});
  EXPECT_THAT(text, HasSubstr("measured    160.1 ms"));
  EXPECT_THAT(text, HasSubstr("fitted      step noise of job0: 0; source: standard deviation"));
}

TEST(FittedRun, LinksHaveTheNamesOfTheRecord) {
  std::vector<forecast::JobForecast> jobs(2);
  jobs[0].binding.where = "host1, way out";
  jobs[1].binding.where = "core, way in";
  name_hosts(jobs, {.hosts = {"10.0.0.2", "10.0.0.7"}});
  EXPECT_EQ(jobs[0].binding.where, "10.0.0.7, way out");
  EXPECT_EQ(jobs[1].binding.where, "core, way in");
}

TEST_F(Predict, MakesAFileLikeARun) {
  const std::string run = run_of(folder_ / "a.run", 1.1);
  const json document =
      json::parse(printed({"--brief", "--json", "--like", run, "--set", "network.rate=2Gbit"}));
  EXPECT_GT(document.at("jobs").at(0).at("step").at("median_s").get<double>(), 0.083);
  EXPECT_EQ(document.at("like").at("jobs").size(), 1u);
}

TEST_F(Predict, RefusesWhatIsNoRun) {
  EXPECT_THAT(refused({"--like", folder_ / "nowhere"}), HasSubstr("there is no such folder"));
  EXPECT_THAT(refused({"--like", folder_ / ""}), HasSubstr("it holds no run (no run.json)"));
}

TEST_F(Predict, RefusesARunThatCannotBeTrusted) {
  const std::string run = run_of(folder_ / "a.run", 1.1, false);
  EXPECT_THAT(refused({"--like", run}), HasSubstr("check \"sums\" of the run failed"));
  EXPECT_THAT(printed({"--brief", "--like", run, "--force"}),
              HasSubstr("not known   check \"sums\""));
}

// The formula and the flow level do not know that delays vary.
TEST_F(Predict, LooksAtPacketsWhereDelaysVary) {
  EXPECT_THAT(printed({"--set", "network.jitter=1ms", "--set", "network.delay=2ms", "--brief"}),
              HasSubstr("found by    packet simulation, as delays vary"));
}

TEST_F(Predict, SaysWhatAGoalBears) {
  const json need = json::parse(printed({"--json", "--need", "step=150ms"})).at("need");
  EXPECT_LT(need.at("delay_s").at("ci_low"), need.at("delay_s").at("value"));
  EXPECT_THAT(printed({"--need", "efficiency=0.5"}), HasSubstr("it bears"));
  EXPECT_EQ(need.at("method"), "formula");
  EXPECT_NEAR(need.at("packets_step_s").get<double>(), 0.1456, 0.002);
  // 145.7 ms is what it takes: it bears 100 us more of the way, and next to no loss.
  EXPECT_THAT(printed({"--need", "step=145700us"}),
              HasSubstr("\n  found by formula; packet by packet a step takes 14"));
}

TEST_F(Predict, RanksChoices) {
  const std::string text = printed({"--advise"});
  EXPECT_THAT(text, HasSubstr("job.strategy=halving_doubling"));
  EXPECT_THAT(text, HasSubstr("of the time for a sample"));
  EXPECT_THAT(text, HasSubstr("\n  found by formula ("));
  EXPECT_THAT(printed({"--scale", "2,4"}), HasSubstr("\n  found by formula (2 rows)\n"));
}

}  // namespace
}  // namespace tw::guide
