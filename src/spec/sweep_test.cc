// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/print.h"
#include "trainwire/spec/test_experiments.h"

#include <gtest/gtest.h>

namespace tw::spec {
namespace {

const std::string kBase = R"([network]
hosts = 4
[job]
model = "resnet50"
hosts = ["host0", "host3"]
[sweep]
)";

TEST(Sweep, KeepsAxesAndValuesInTheOrderOfTheFile) {
  const Experiment e =
      parsed(kBase + "\"network.rate\" = [\"2Gbit\", \"1Gbit\"]\njob.batch = [8]\n");
  EXPECT_EQ(e.sweep, (std::vector<SweepAxis>{{"network.rate", {"\"2Gbit\"", "\"1Gbit\""}},
                                             {"job.batch", {"8"}, 1}}));
  // The experiment itself is the file without its sweep.
  EXPECT_EQ(*e.network.link.rate, BitRate(1e9));
}

TEST(Sweep, TakesListsAsValues) {
  const Experiment e = parsed(kBase + "\"job.0.hosts\" = [[\"host0\"], [\"host1\", \"host2\"]]\n");
  EXPECT_EQ(e.sweep[0].values[1], "[\"host1\", \"host2\"]");
}

TEST(Sweep, WritesRangesOut) {
  const Experiment e = parsed(kBase +
                              "\"run.seed\" = \"1..3\"\n\"network.rate\" = "
                              "[\"10Mbit\", \"100Mbit..1Gbit x10\"]\n");
  EXPECT_EQ(e.sweep[0].values, (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(e.sweep[1].values,
            (std::vector<std::string>{"\"10Mbit\"", "\"100Mbit\"", "\"1000Mbit\""}));
  EXPECT_EQ(problems(kBase + "\"network.loss\" = \"0..1.5\"\n"),
            "x.toml:7: sweep.\"network.loss\": \"0..1.5\" say how to go on: \"A..B x2\", \"A..B "
            "step 0.1\", \"A..B in 5\" or \"A..B in 5 log\"");
}

TEST(Sweep, KeysThatGoTogetherAreOneAxis) {
  const std::string text =
      kBase + "\"job.batch, network.rate\" = [[8, \"1Gbit\"], [16, \"2Gbit\"]]\n";
  const Experiment e = parsed(text + "\"run.seed\" = [1]\n");
  EXPECT_EQ(e.sweep, (std::vector<SweepAxis>{{"job.batch", {"8", "16"}, 0},
                                             {"network.rate", {"\"1Gbit\"", "\"2Gbit\""}, 0},
                                             {"run.seed", {"1"}, 1}}));
  EXPECT_EQ(problems(kBase + "\"job.batch, network.rate\" = [[8], 3]\n"),
            "x.toml:7: sweep.\"job.batch, network.rate\": [8] is no list of 2 values, one for each "
            "key\nx.toml:7: sweep.\"job.batch, network.rate\": 3 is no list of 2 values, one for "
            "each key\n2 problems in x.toml");
}

TEST(Sweep, IsPrintedAsItIsRead) {
  const Experiment e = parsed(kBase +
                              "\"job.batch, run.seed\" = [[8, 1], [16, 2]]\n"
                              "\"network.loss\" = \"0..0.2 step 0.1\"\n");
  EXPECT_EQ(parsed(to_toml(e)).sweep, e.sweep);
}

TEST(Sweep, RefusesAKeyThatIsNone) {
  EXPECT_EQ(problems(kBase + "\"network.rat\" = [1]\n"),
            "x.toml:7: sweep.\"network.rat\": with 1: unknown key; did you mean \"rate\"?");
  EXPECT_EQ(problems(kBase + "\"job.4.batch\" = [1]\n"),
            "x.toml:7: sweep.\"job.4.batch\": there is no job.4; the last one is job.0");
}

TEST(Sweep, RefusesAValueThatIsNone) {
  EXPECT_EQ(
      problems(kBase + "\"network.rate\" = [\"1Gbit\",\n \"-1Gbit\", \"2Gbit\"]\n"),
      "x.toml:8: sweep.\"network.rate\": with \"-1Gbit\": \"-1Gbit\" is not a rate above 0; write "
      "for example \"1Gbit\"");
}

TEST(Sweep, RefusesAValueThatBreaksAnotherKey) {
  EXPECT_EQ(
      problems(kBase + "\"network.hosts\" = [4, 8, 2]\n"),
      "x.toml:7: sweep.\"network.hosts\": with 2: job.hosts: unknown host \"host3\"; there are "
      "host0 to host1");
}

TEST(Sweep, TriesOnlyPointsOfTheGrid) {
  // 8 workers fit in no network of 4 ranks, but every point has both values.
  EXPECT_EQ(problems(kBase + "\"job.workers\" = [8]\n\"job.ranks\" = [8]\n"), "");
}

TEST(Sweep, NeedsValues) {
  EXPECT_EQ(problems(kBase + "\"network.rate\" = []\n\"run.seed\" = 3\n"),
            "x.toml:7: sweep.\"network.rate\": needs a list of values, as in [1, 2, 4], or a "
            "range, as in \"1..8\"\n"
            "x.toml:8: sweep.\"run.seed\": needs a list of values, as in [1, 2, 4], or a range, as "
            "in \"1..8\"\n"
            "2 problems in x.toml");
  EXPECT_EQ(problems("sweep = 3"), "x.toml:1: sweep: not a section; write [sweep]");
}

TEST(Sweep, IsNotEndless) {
  std::string axes;
  for (const char* key : {"run.seed", "run.repeats", "run.scale", "job.batch", "job.steps"}) {
    axes += std::string("\"") + key + "\" = [1, 2, 3, 4, 5, 6, 7, 8]\n";
  }
  // 8^5 = 32768.
  EXPECT_EQ(problems(kBase + axes), "x.toml:6: sweep: more than 10000 points; write fewer values");
}

TEST(Sweep, IsCheckedBesidesOtherProblems) {
  EXPECT_EQ(problems("[run]\nsede = 1\n[sweep]\n\"run.scale\" = [0.5]\n"),
            "x.toml:2: run.sede: unknown key; did you mean \"seed\"?\n"
            "x.toml:4: sweep.\"run.scale\": with 0.5: 0.5 is not a number from 1 to 1000000\n"
            "2 problems in x.toml");
}

}  // namespace
}  // namespace tw::spec
