// SPDX-License-Identifier: Apache-2.0
// The program as a user meets it: what it prints, where, and how it exits.
#include "trainwire/cli/commands.h"
#include "trainwire/cli/test_program.h"
#include "trainwire/command/app.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace tw::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// A file that lives as long as the test.
class Program : public testing::Test {
 protected:
  std::string file(std::string_view text) {
    path_ = testing::TempDir() + "experiment.toml";
    std::ofstream(path_) << text;
    return path_;
  }
  void TearDown() override { std::filesystem::remove(path_); }

 private:
  std::string path_ = testing::TempDir() + "none.toml";
};

constexpr const char* kRingOfFour = R"(
[network]
hosts = 4
rate = "25Gbit"
[[job]]
model = "resnet50-torchvision"
batch = 64
device = "a100"
)";

TEST_F(Program, HelpAndVersionGoToStandardOutput) {
  EXPECT_EQ(trainwire({"--help"}).code, 0);
  EXPECT_THAT(trainwire({"--help"}).out, HasSubstr("plan"));
  EXPECT_THAT(trainwire({"plan", "--help"}).out, HasSubstr("--set"));
  EXPECT_THAT(trainwire({"--version"}).out, StartsWith("trainwire 0."));
}

TEST_F(Program, EveryCommandHasExamplesThatCanBeParsed) {
  for (const command::Command& command : commands()) {
    std::istringstream lines{std::string(command.examples)};
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      line = line.substr(0, line.find(" > "));
      std::istringstream in(line);
      std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
      ASSERT_GE(words.size(), 2u) << line;
      EXPECT_EQ(words[0], "trainwire");
      EXPECT_EQ(words[1], command.name);
      words.erase(words.begin());
      command::Application application(commands());
      EXPECT_NO_THROW(application.parse(words)) << line;
    }
    EXPECT_GE(count, 1) << command.name;
    EXPECT_THAT(trainwire({std::string(command.name), "--help"}).out,
                HasSubstr("Examples:\n  trainwire "));
  }
}

TEST_F(Program, NoCommandIsAUsageErrorWithTheHelp) {
  const Result result = trainwire({});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, HasSubstr("plan"));
}

TEST_F(Program, MisspeltCommandNamesTheNearest) {
  const Result result = trainwire({"plam", "x.toml"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("did you mean \"plan\"?"));
}

TEST_F(Program, UnknownOptionPointsToTheHelp) {
  const Result result = trainwire({"plan", "--jsn", file(kRingOfFour)});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("trainwire plan --help"));
}

TEST_F(Program, UnknownOptionNamesTheNearest) {
  EXPECT_THAT(trainwire({"plan", "--sett", "a=b", file(kRingOfFour)}).err,
              HasSubstr("there is no option \"--sett\"; did you mean \"--set\"?"));
}

TEST_F(Program, HelpOfAnActionIsAboutThatActionOnly) {
  const std::string sink = trainwire({"traffic", "sink", "--help"}).out;
  EXPECT_THAT(sink, HasSubstr("Usage: trainwire traffic sink [OPTIONS]\n"));
  EXPECT_THAT(sink, HasSubstr("address to listen on"));
  for (const char* other : {"--kind", "traffic send", "address to send from"}) {
    EXPECT_THAT(sink, testing::Not(HasSubstr(other)));
  }
  const std::string all = trainwire({"traffic", "--help"}).out;
  EXPECT_THAT(all, HasSubstr("for sink: address to listen on"));
  EXPECT_THAT(all, HasSubstr("for make, send: payload"));
}

TEST_F(Program, NewWritesWhatCanBePlanned) {
  const std::string path = testing::TempDir() + "program_test_new.toml";
  std::filesystem::remove(path);
  const std::vector<std::string> words{"new", "--hosts", "3", "--strategy", "tree", "-o", path};
  const Result made = trainwire(words);
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("next: trainwire plan " + path));
  EXPECT_EQ(trainwire({"plan", path}).code, 0);
  // Never over a file that is there.
  EXPECT_EQ(trainwire(words).code, 3);
  std::filesystem::remove(path);
  EXPECT_EQ(trainwire({"new", "--rate", "fast", "-o", path}).code, 2);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Program, ExecTakesItsNetworkFromFlags) {
  const Result shown =
      trainwire({"exec", "--hosts", "2", "--link", "host1:to:20Mbit", "--dry-run", "--", "echo"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("20 Mbit/s"));
  EXPECT_THAT(shown.out, HasSubstr("rank 1 on host1  echo"));
  EXPECT_THAT(trainwire({"exec", "--link", "host9:1Mbit", "--", "echo"}).err,
              HasSubstr("--link host9:1Mbit: "));
  EXPECT_EQ(trainwire({"exec", file(kRingOfFour)}).code, 2);
}

TEST_F(Program, ExplainFindsWordsOfAllKinds) {
  EXPECT_THAT(trainwire({"explain", "network.queue"}).out, HasSubstr("limit of the queue"));
  EXPECT_THAT(trainwire({"explain", "clock"}).out, HasSubstr("what to do"));
  const auto document = nlohmann::json::parse(trainwire({"explain", "slow_link", "--json"}).out);
  EXPECT_EQ(document["entries"][0]["kind"], "finding");
  EXPECT_THAT(trainwire({"explain", "slow_lnk"}).err, HasSubstr("did you mean \"slow_link\""));
}

TEST_F(Program, MissingFileIsAnEnvironmentError) {
  const Result result = trainwire({"plan", "/nonexistent/x.toml"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, HasSubstr("/nonexistent/x.toml"));
}

TEST_F(Program, FolderIsAnEnvironmentError) {
  EXPECT_EQ(trainwire({"plan", testing::TempDir()}).code, 3);
}

TEST_F(Program, PlanPrintsTheDemandOfEquation31) {
  // 2(N-1)/N * P * 4 bytes = 1.5 * 25,557,032 * 4 = 153,342,192.
  const Result result = trainwire({"plan", file(kRingOfFour)});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("a rank sends at most 153.3 MB"));
  EXPECT_THAT(result.out, HasSubstr("7.667 Gbit/s"));
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(Program, PlanDocumentHasThePromisedFields) {
  const Result result = trainwire({"plan", "--json", file(kRingOfFour)});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto document = nlohmann::json::parse(result.out);
  EXPECT_EQ(document["schema"], 1);
  const auto& job = document["jobs"][0];
  for (const char* key :
       {"name", "model", "strategy", "ranks", "hosts", "step", "training", "compute_s",
        "exchange_bound_s", "iteration_bound_s", "required_bandwidth_bps"}) {
    EXPECT_TRUE(job.contains(key)) << key;
  }
  EXPECT_EQ(job["step"]["rank_sent_bytes"], 153342192);
  EXPECT_EQ(job["step"]["pairs"].size(), 4u);
  EXPECT_EQ(job["step"]["pairs"][0]["from"], "host0");
  EXPECT_EQ(job["step"]["pairs"][0]["to"], "host1");
}

TEST_F(Program, SetReplacesASetting) {
  const Result result = trainwire({"plan", "--json", "--set", "job.strategy=star", "--set",
                                   "network.hosts=3", file(kRingOfFour)});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto job = nlohmann::json::parse(result.out)["jobs"][0];
  EXPECT_EQ(job["strategy"], "star");
  EXPECT_EQ(job["ranks"], 3);
}

TEST_F(Program, FailedExpectationExitsWithOne) {
  const Result result = trainwire({"plan", file(std::string(kRingOfFour) + R"(
[[expect]]
of = "plan"
metric = "jobs.0.step.total_bytes"
equals = 1
)")});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("NOT AS EXPECTED"));
}

TEST_F(Program, WrongExperimentListsAllProblemsAtOnce) {
  const Result result = trainwire({"show", file(R"(
[network]
rat = "1Gbit"
rate = "-1Gbit"
delay = "10ms"
queue = "1kB"
[[job]]
model = "resnet5O"
ranks = 0
)")});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.out, IsEmpty());
  for (const char* part :
       {"\"rate\"", "-1Gbit", "allow_shallow_queue", "resnet50", "at least one rank"}) {
    EXPECT_THAT(result.err, HasSubstr(part));
  }
}

TEST_F(Program, ShowMarksDefaults) {
  const Result result = trainwire({"show", file(kRingOfFour)});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("default"));
  EXPECT_THAT(result.out, HasSubstr("25,557,032 trainable parameters"));
  EXPECT_TRUE(nlohmann::json::accept(trainwire({"show", "--json", file(kRingOfFour)}).out));
}

TEST_F(Program, ModelsListsAndDetails) {
  EXPECT_THAT(trainwire({"models"}).out, HasSubstr("25,636,712"));
  EXPECT_THAT(trainwire({"models", "vgg16"}).out, HasSubstr("138,357,544 parameters"));
  const Result unknown = trainwire({"models", "vgg17"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean"));
  const auto document = nlohmann::json::parse(trainwire({"models", "--json"}).out);
  EXPECT_GE(document["models"].size(), 20u);
}

TEST_F(Program, StrategiesListsThemAll) {
  const auto document = nlohmann::json::parse(trainwire({"strategies", "--json"}).out);
  EXPECT_EQ(document["strategies"].size(), 16u);
  EXPECT_THAT(trainwire({"strategies"}).out, HasSubstr("halving_doubling"));
}

TEST_F(Program, FullOutputIsAnEnvironmentError) {
  std::ofstream full("/dev/full");
  std::ostringstream err;
  const std::vector<std::string> arguments{"models"};
  EXPECT_EQ(run(arguments, {.out = full, .err = err}), 3);
  EXPECT_THAT(err.str(), HasSubstr("full"));
}

}  // namespace
}  // namespace tw::cli
