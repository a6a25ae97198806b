// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sketch/sketch.h"

#include "trainwire/base/error.h"
#include "trainwire/predict/plan.h"
#include "trainwire/sketch/flag.h"
#include "trainwire/spec/parse.h"
#include "trainwire/workload/vocabulary.h"

#include <gmock/gmock.h>

namespace tw::sketch {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

spec::Experiment read(const Sketch& sketch, For purpose = For::Training) {
  return spec::parse(written(sketch, purpose).toml, "the flags", workload::vocabulary());
}

/// What is wrong, in words about flags; "" where the experiment can be planned.
std::string problem_of(const Sketch& sketch) {
  const Text text = written(sketch, For::Training);
  try {
    const spec::Experiment experiment = spec::parse(text.toml, "the flags", workload::vocabulary());
    for (const spec::Job& job : experiment.jobs) predict::plan(experiment, job);
    return {};
  } catch (const SpecError& error) {
    return in_options(error.what(), "the flags", text);
  }
}

TEST(Sketch, WithoutAnyFlagIsAnExperiment) {
  EXPECT_EQ(problem_of({}), "");
  EXPECT_EQ(*read({}).jobs.front().model, "resnet50");
}

TEST(Sketch, HasWhatTheFlagsSay) {
  const spec::Experiment experiment = read({.values = {{"--hosts", "6"},
                                                       {"--topology", "dumbbell"},
                                                       {"--rate", "500Mbit"},
                                                       {"--loss", "0.1%"},
                                                       {"--ranks", "12"},
                                                       {"--strategy", "tree"}},
                                            .links = {"host1:to:120Mbit,delay=2ms", "core:1Gbit"},
                                            .traffic = {"host2:host0:0.8:websearch"}});
  EXPECT_EQ(*experiment.network.hosts, 6);
  EXPECT_EQ(*experiment.network.topology, spec::Topology::Dumbbell);
  EXPECT_EQ(experiment.network.link.rate->bits_per_second(), 500e6);
  EXPECT_EQ(*experiment.network.link.loss, 0.001);
  ASSERT_EQ(experiment.network.overrides.size(), 2u);
  EXPECT_EQ(experiment.network.overrides[0].direction.value, spec::Direction::ToHost);
  EXPECT_EQ(experiment.network.overrides[0].rate->value.bits_per_second(), 120e6);
  EXPECT_EQ(*experiment.jobs.front().ranks, 12);
  ASSERT_EQ(experiment.traffic.size(), 1u);
  EXPECT_EQ(*experiment.traffic.front().kind, spec::TrafficKind::WebSearch);
}

TEST(Sketch, ExplainsEveryKeyInTheReferencesWords) {
  const std::string toml = written({.values = {{"--jitter", "1ms"}}}, For::Training).toml;
  EXPECT_THAT(toml,
              HasSubstr("jitter = \"1ms\"                 # standard deviation of the delay\n"));
  EXPECT_THAT(toml, HasSubstr("# hosts = 4                    # named host0, host1, ...\n"));
  EXPECT_THAT(toml, HasSubstr("default: one for each of the job's hosts"));
}

TEST(Sketch, OfAProgramHasAJobOnlyForItsRanks) {
  EXPECT_TRUE(read({.values = {{"--hosts", "2"}}}, For::Program).jobs.empty());
  const auto jobs = read({.values = {{"--hosts", "2"}, {"--ranks", "4"}}}, For::Program).jobs;
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(*jobs.front().ranks, 4);
}

TEST(Sketch, SaysWhichFlagIsWrong) {
  EXPECT_THAT(problem_of({.values = {{"--rate", "5Gbot"}}}), StartsWith("--rate 5Gbot: "));
  EXPECT_THAT(problem_of({.links = {"host9:to:1Mbit"}}), StartsWith("--link host9:to:1Mbit: "));
  EXPECT_THAT(problem_of({.links = {"host1:lss=1%"}}), HasSubstr("did you mean \"loss\"?"));
  EXPECT_THROW(written({.links = {"host1"}}, For::Training), SpecError);
  EXPECT_THROW(written({.links = {"host1:up:1Mbit"}}, For::Training), SpecError);
  EXPECT_THROW(written({.traffic = {"host1:host2"}}, For::Training), SpecError);
}

TEST(Sketch, KeepsTextThatTomlWouldTakeForSomethingElse) {
  const std::string name = "a \"b\"\n[network]\nhosts = 9";
  EXPECT_EQ(*read({.values = {{"--name", name}}}).name, name);
}

// Whatever the flags are, the file can be planned or the flag at fault is named.
TEST(Sketch, EveryCombinationPlansOrNamesItsFlag) {
  int planned = 0;
  for (const char* topology : {"star", "dumbbell", "leafspine", "fattree"}) {
    for (const char* hosts : {"1", "2", "3", "5", "8"}) {
      for (const std::string_view strategy : workload::vocabulary().strategies) {
        for (const char* ranks : {"", "1", "2", "7", "16"}) {
          Sketch sketch{.values = {{"--topology", topology},
                                   {"--hosts", hosts},
                                   {"--strategy", std::string(strategy)},
                                   {"--parameters", "1MB"}}};
          if (*ranks != '\0') sketch.values["--ranks"] = ranks;
          const std::string problem = problem_of(sketch);
          planned += problem.empty();
          if (!problem.empty()) {
            EXPECT_THAT(problem, StartsWith("--")) << written(sketch, For::Training).toml;
          }
        }
      }
    }
  }
  EXPECT_GT(planned, 1200);  // of 1600
}

TEST(Sketch, EveryModelPlans) {
  for (const std::string_view model : workload::vocabulary().models) {
    const std::string problem = problem_of({.values = {{"--model", std::string(model)}}});
    if (problem.empty()) continue;
    EXPECT_THAT(problem, StartsWith("--model")) << model;
  }
}

TEST(Flag, StandsForAKeyThatExists) {
  for (const Flag& flag : flags()) {
    EXPECT_TRUE(has_key(flag.section, flag.key)) << flag.option;
    EXPECT_FALSE(meaning(flag.section, flag.key).empty());
  }
}

}  // namespace
}  // namespace tw::sketch
