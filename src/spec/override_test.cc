// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/override.h"

#include "trainwire/spec/test_experiments.h"

#include <gtest/gtest.h>

namespace tw::spec {
namespace {

const std::string kTwoJobs = R"([network]
hosts = 4
[[network.link]]
at = "host0"
rate = "1Gbit"
[[job]]
model = "resnet50"
[[job]]
model = "vgg16"
)";

TEST(ParseOverride, CutsAtTheFirstEqualsSign) {
  const Override o = parse_override("name = a=b");
  EXPECT_EQ(o.key, "name");
  EXPECT_EQ(o.value, "a=b");
  EXPECT_THROW(parse_override("name"), SpecError);
  EXPECT_THROW(parse_override("=3"), SpecError);
}

TEST(Override, MarksItsOrigin) {
  const Experiment e = parsed(kTwoJobs, {"network.hosts=8"});
  EXPECT_EQ(e.network.hosts, (Setting<int>{8, Origin::Override}));
}

TEST(Override, WithoutANumberMeansEveryEntry) {
  const Experiment e = parsed(kTwoJobs, {"job.model=bert-large"});
  EXPECT_EQ(*e.jobs[0].model, "bert-large");
  EXPECT_EQ(*e.jobs[1].model, "bert-large");
}

TEST(Override, WithANumberMeansThatEntry) {
  const Experiment e = parsed(kTwoJobs, {"job.1.batch=8", "network.link.0.rate=5Gbit"});
  EXPECT_EQ(*e.jobs[0].batch, 32);
  EXPECT_EQ(*e.jobs[1].batch, 8);
  EXPECT_EQ(**e.network.overrides[0].rate, BitRate(5e9));
}

TEST(Override, ReachesASingleTableByNumberToo) {
  EXPECT_EQ(*parsed("[job]\nmodel = \"vgg16\"\n", {"job.0.batch=8"}).jobs[0].batch, 8);
}

TEST(Override, MakesSectionsThatTheFileLacks) {
  EXPECT_EQ(*parsed("", {"run.seed=42"}).run.seed, 42u);
  EXPECT_EQ(*parsed("", {"name=two words"}).name, "two words");
  EXPECT_EQ(parsed("", {"sweep.network.rate=[\"1Gbit\", \"2Gbit\"]"}).sweep,
            (std::vector<SweepAxis>{{"network.rate", {"\"1Gbit\"", "\"2Gbit\""}}}));
}

TEST(Override, OfStepsReplacesEpochsAndTheOtherWayRound) {
  const std::string epochs = "[[job]]\nmodel = \"vgg16\"\nepochs = 2\ndataset = 6400\n";
  const Job job = parsed(epochs, {"job.steps=20"}).jobs[0];
  EXPECT_EQ(*job.steps, 20);
  EXPECT_FALSE(*job.epochs);
  EXPECT_EQ(**parsed("[[job]]\nmodel = \"vgg16\"\nsteps = 5\n", {"job.epochs=1", "job.dataset=640"})
                  .jobs[0]
                  .epochs,
            1);
}

TEST(Override, AModelTakesThePlaceOfParameters) {
  const std::string parameters = "[[job]]\nparameters = \"1MB\"\ncompute_time = \"5ms\"\n";
  const Job job = parsed(parameters, {"job.model=vgg16"}).jobs[0];
  EXPECT_EQ(*job.model, "vgg16");
  EXPECT_FALSE(*job.parameters);
}

TEST(Override, OfTheSameKeyTheLastCounts) {
  EXPECT_EQ(*parsed("", {"run.seed=1", "run.seed=2"}).run.seed, 2u);
}

TEST(Override, IsRefusedByTheNameItWasGiven) {
  EXPECT_EQ(problems(kTwoJobs, {"network.rat=1Gbit"}),
            "--set network.rat=1Gbit: unknown key; did you mean \"rate\"?");
  EXPECT_EQ(problems(kTwoJobs, {"job.7.model=vgg16"}),
            "--set job.7.model=vgg16: there is no job.7; the last one is job.1");
  EXPECT_EQ(problems(kTwoJobs, {"job.model=vgg17"}),
            "--set job.model=vgg17: unknown model \"vgg17\"; did you mean \"vgg16\"?");
  EXPECT_EQ(problems("", {"traffic.0.load=1"}),
            "--set traffic.0.load=1: there is no [[traffic]] to set it in");
  EXPECT_EQ(problems("", {"network.link.0.rate=1Gbit"}),
            "--set network.link.0.rate=1Gbit: there is no [[network.link]] to set it in");
  EXPECT_EQ(problems("[[network.link]]\nat = \"host0\"\n", {"network.link.1.rate=1Gbit"}),
            "--set network.link.1.rate=1Gbit: there is no network.link.1; the last one is "
            "network.link.0");
  EXPECT_EQ(problems("", {"rate=1Gbit"}),
            "--set rate=1Gbit: unknown key; did you mean \"network.rate\"?");
  EXPECT_EQ(problems("", {"netwrok.rate=1Gbit"}),
            "--set netwrok.rate=1Gbit: unknown section or key; did you mean \"network\"?");
  EXPECT_EQ(problems("job = []", {"job.model=vgg16"}),
            "--set job.model=vgg16: there is no [[job]] to set it in; add one to the file");
  EXPECT_EQ(problems("network.rate = \"1Gbit\"", {"network.rate.x=1"}),
            "--set network.rate.x=1: \"rate\" is a value, not a section");
}

TEST(Override, IsRefusedWhenItSaysNothing) {
  EXPECT_NE(problems("", {"network..rate=1"}), "");
  EXPECT_NE(problems("", {"network=5"}), "");
  EXPECT_NE(problems("", {"name=\xff"}), "");
  EXPECT_NE(problems(kTwoJobs, {"job.0=5"}), "");
  EXPECT_NE(problems("sweep = 1", {"sweep.a=[1]"}), "");
  EXPECT_NE(problems("job = [1]", {"job.0.model=vgg16"}), "");
}

TEST(Override, IsToldAfterTheFile) {
  EXPECT_EQ(problems("[run]\nsede = 1\n", {"run.scale=0"}),
            "x.toml:2: run.sede: unknown key; did you mean \"seed\"?\n"
            "--set run.scale=0: 0 is not a number from 1 to 1000000\n"
            "2 problems in x.toml");
}

}  // namespace
}  // namespace tw::spec
