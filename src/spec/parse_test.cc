// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/parse.h"

#include "trainwire/spec/fields.h"
#include "trainwire/spec/test_experiments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace tw::spec {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Problems of a network, a job on four hosts, or traffic between them.
std::string network_problem(const std::string& keys) { return problems("[network]\n" + keys); }
std::string job_problem(const std::string& keys) {
  return problems("[job]\nmodel = \"vgg16\"\n" + keys);
}
std::string traffic_problem(const std::string& keys) {
  return problems("[traffic]\nfrom = \"host0\"\nto = \"host1\"\n" + keys);
}
std::string expect_problem(const std::string& keys) { return problems("[[expect]]\n" + keys); }

Job job(const std::string& keys) { return parsed("[job]\nmodel = \"vgg16\"\n" + keys).jobs[0]; }

TEST(Parse, ReadsTheExampleOfTheDesign) {
  const Experiment e = parsed(contents("fuzz/corpus/spec/design.toml"));
  EXPECT_EQ(*e.name, "ring of four under web-search traffic");
  EXPECT_EQ(e.network.link.rate, (Setting<BitRate>{BitRate(1e9), Origin::File}));
  EXPECT_EQ(**e.network.overrides.at(0).direction, Direction::ToHost);
  EXPECT_EQ(*e.jobs.at(0).transport, "tcp");
  EXPECT_EQ(e.jobs[0].side_connections, (Setting<int>{2, Origin::Preset}));
  EXPECT_EQ(*e.traffic.at(0).load, Load{.share = 0.8});
  EXPECT_EQ(*e.capture.snaplen, 150);
  EXPECT_EQ(e.sweep.at(0).values, (std::vector<std::string>{"0", "0.3", "0.6", "0.8"}));
  EXPECT_EQ(*e.run.scale, 25);
}

TEST(Parse, GivesAnEmptyFileDefaultsAndNoJobs) {
  const Experiment e = parsed("");
  EXPECT_EQ(e.network.hosts, (Setting<int>{4, Origin::Default}));
  EXPECT_EQ(e.network.core_rate, (Setting<BitRate>{BitRate(1e9), Origin::Derived}));
  EXPECT_TRUE(e.jobs.empty());
}

TEST(Parse, TellsAllProblemsAtOnceInTheOrderOfTheFile) {
  EXPECT_EQ(problems(R"([network]
hosts = 4
rate = "-1Gbit"
delya = "50us"
queue = true
[[job]]
model = "resnet51"
ranks = 0
hosts = ["host0", "host9"]
[run]
seed = "seven"
)"),
            R"(x.toml:3: network.rate: "-1Gbit" is not a rate above 0; write for example "1Gbit"
x.toml:4: network.delya: unknown key; did you mean "delay"?
x.toml:5: network.queue: true is not a queue size; write for example "1bdp" or "256KiB"
x.toml:7: job.model: unknown model "resnet51"; did you mean "resnet50"?
x.toml:8: job.ranks: a job needs at least one rank; 0 is not a whole number from 1 to 1000000
x.toml:9: job.hosts: unknown host "host9"; there are host0 to host3
x.toml:11: run.seed: "seven" is not a whole number from 0 to 9223372036854775807
7 problems in x.toml)");
}

TEST(Parse, KeepsKeysOfRealTrainingToIt) {
  EXPECT_THAT(job_problem("learning_rate = 0.1\n"),
              HasSubstr("learning_rate: has no effect unless compute = \"train\""));
  EXPECT_THAT(job_problem("compute = \"train\"\n"),
              HasSubstr("train knows the models mlp and cnn, not vgg16"));
  EXPECT_THAT(job_problem("compute = \"train\"\ngradient = \"fp8\"\n"), HasSubstr("fp16"));
}

TEST(Parse, StopsAtBadSyntaxAlone) {
  EXPECT_THAT(problems("[network]\nrate = 1Gbit\n"), HasSubstr("x.toml:2:"));
}

TEST(Parse, RefusesUnknownSectionsAndKeys) {
  EXPECT_EQ(problems("[netwrok]\n"),
            "x.toml:1: netwrok: unknown section or key; did you mean \"network\"?");
  EXPECT_EQ(problems("hosts = 4"), "x.toml:1: hosts: unknown key; did you mean \"network.hosts\"?");
  EXPECT_EQ(problems("[capture]\nzzz = 1"),
            "x.toml:2: capture.zzz: unknown key; known: enabled, snaplen, keep");
  EXPECT_EQ(network_problem("qqqqqqqqqqq = 1"),
            "x.toml:2: network.qqqqqqqqqqq: unknown key; docs/experiment-file.md lists them");
}

TEST(Parse, RefusesSectionsOfTheWrongShape) {
  EXPECT_EQ(problems("network = 3"), "x.toml:1: network: not a section; write [network]");
  EXPECT_EQ(problems("job = \"vgg16\""), "x.toml:1: job: not a section; write [[job]]");
  EXPECT_EQ(problems("job = [1]"), "x.toml:1: job: not a section; write [[job]]");
  EXPECT_EQ(problems("[[run]]"), "x.toml:1: run: not a section; write [run]");
}

TEST(Network, HasAtLeastOneHostAndAtMostAMillion) {
  EXPECT_THAT(network_problem("hosts = 0"), HasSubstr("a network needs at least one host"));
  EXPECT_THAT(network_problem("hosts = 1000001"), HasSubstr("from 1 to 1000000"));
  EXPECT_EQ(network_problem("hosts = 1"), "");
}

TEST(Network, KeepsPacketsWithinWhatIpAllows) {
  EXPECT_THAT(network_problem("mtu = 575"), HasSubstr("from 576 to 65535"));
  EXPECT_EQ(network_problem("mtu = 576"), "");
  EXPECT_EQ(network_problem("mtu = 1279\nip_version = 6"),
            "x.toml:2: network.mtu: 1279 is too small for IPv6; write 1280 or more");
  EXPECT_THAT(network_problem("ip_version = 5"), HasSubstr("write 4 or 6"));
}

TEST(Network, MarksMoreTheMoreWaits) {
  EXPECT_EQ(network_problem("ecn = \"64KiB\"\necn_until = \"128KiB\""), "");
  EXPECT_EQ(network_problem("ecn = \"64KiB\"\necn_until = \"32KiB\""),
            "x.toml:3: network.ecn_until: 32KiB is below ecn = 64KiB; write as much or more");
}

TEST(SimulatedKeys, AreThoseThatAskForSomethingElseThanUsual) {
  const std::string job = "[[job]]\nmodel = \"vgg16\"\n";
  EXPECT_THAT(simulated_keys(parsed(job)), IsEmpty());
  EXPECT_THAT(simulated_keys(parsed(job + "aggregation = \"host\"\npriority = 0\n")), IsEmpty());
  EXPECT_THAT(simulated_keys(parsed("[network]\npaths = \"packet\"\n" + job +
                                    "aggregation = \"switch\"\ncongestion_control = \"bbr\"\n"
                                    "[[traffic]]\nfrom = \"host0\"\nto = \"host1\"\nload = 0.1\n"
                                    "priority = 3\n")),
              ElementsAre("network.paths", "job.congestion_control", "job.aggregation",
                          "traffic.priority"));
}

TEST(Job, HasTheNetworksCongestionControlUnlessItSays) {
  const std::string text = "[network]\ncongestion_control = \"reno\"\n[[job]]\nmodel = \"vgg16\"\n";
  EXPECT_EQ(*parsed(text).jobs[0].congestion_control, "reno");
  EXPECT_EQ(*parsed(text + "congestion_control = \"dctcp\"").jobs[0].congestion_control, "dctcp");
}

TEST(Network, ChecksTheShapeOfItsTopology) {
  EXPECT_EQ(parsed("[network]\ntopology = \"dumbbell\"\nhosts = 5").network.left,
            (Setting<int>{2, Origin::Derived}));
  EXPECT_THAT(network_problem("topology = \"dumbbell\"\nleft = 4"), HasSubstr("write 1 to 3"));
  EXPECT_THAT(network_problem("topology = \"dumbbell\"\nhosts = 1"),
              HasSubstr("hosts = 2 or more"));
  EXPECT_THAT(network_problem("topology = \"leafspine\"\nleaves = 5"), HasSubstr("leaves = 4"));
  EXPECT_THAT(network_problem("topology = \"leafspine\"\nspines = 0"), HasSubstr("network.spines"));
}

// 1 Gbit/s x 4 x 50 us = 25,000 bytes.
TEST(Network, RefusesAQueueThatIsSmallerThanTheDelayNeeds) {
  EXPECT_EQ(network_problem("queue = 24999"),
            "x.toml:2: network.queue: 24999 bytes are less than the delay needs: 1Gbit x 200us "
            "round trip "
            "= 25000 bytes; write queue = \"1bdp\" or allow_shallow_queue = true");
  EXPECT_EQ(network_problem("queue = 25000"), "");
  EXPECT_THAT(network_problem("queue = \"0.5bdp\""), HasSubstr("12500 bytes are less"));
  EXPECT_EQ(network_problem("queue = \"0.5bdp\"\nallow_shallow_queue = true"), "");
  EXPECT_EQ(network_problem("delay = 0\nqueue = 1"), "");
}

TEST(Network, ChecksTheQueueOfFasterLinksToo) {
  const std::string link = "[[network.link]]\nat = \"host1\"\n";
  EXPECT_THAT(network_problem("queue = 25000\n" + link + "rate = \"2Gbit\""),
              HasSubstr("x.toml:5: network.link.rate: 25000 bytes are less"));
  EXPECT_THAT(network_problem(link + "queue = 10"),
              HasSubstr("network.link.queue: 10 bytes are less"));
  EXPECT_EQ(network_problem(link + "queue = 12500\nrate = \"500Mbit\""), "");
  EXPECT_THAT(network_problem("queue = 37500\ntopology = \"dumbbell\"\ncore_rate = \"2Gbit\""),
              HasSubstr("75000 bytes"));
}

TEST(Network, KnowsTheLinksThatEntriesAreAbout) {
  const std::string link = "[[network.link]]\n";
  EXPECT_EQ(network_problem(link + "rate = \"1Gbit\""),
            "x.toml:2: network.link: does not say which link it is about; write at = \"host0\"");
  EXPECT_THAT(network_problem(link + "at = \"host4\""),
              HasSubstr("unknown link \"host4\"; there are host0 to host3"));
  EXPECT_THAT(network_problem(link + "at = \"hots1\""), HasSubstr("did you mean \"host1\"?"));
  EXPECT_THAT(network_problem(link + "at = \"core\""), HasSubstr("unknown link \"core\""));
  EXPECT_THAT(network_problem("topology = \"dumbbell\"\n" + link + "at = \"cor\""),
              HasSubstr("did you mean \"core\"?"));
  EXPECT_EQ(network_problem("topology = \"dumbbell\"\n" + link + "at = \"core\""), "");
}

TEST(Network, RefusesTwoValuesForOneDirectionOfALink) {
  const std::string first = "[[network.link]]\nat = \"host1\"\nrate = \"2Gbit\"\n";
  const std::string second = "[[network.link]]\nat = \"host1\"\ndirection = \"to_host\"\n";
  EXPECT_EQ(network_problem(first + second + "rate = \"3Gbit\"\n"),
            "x.toml:8: network.link.1.rate: another [[network.link]] sets it for host1 already; "
            "keep one");
  EXPECT_EQ(network_problem(first + second + "delay = \"1us\"\n"), "");
  EXPECT_EQ(network_problem(first + "direction = \"from_host\"\n" + second + "rate = \"3Gbit\""),
            "");
}

TEST(Network, DoesNotJudgeByValuesThatCouldNotBeRead) {
  // Only the delay is reported: whether the queue fits it is unknown.
  EXPECT_EQ(network_problem("delay = \"short\"\nqueue = 1"),
            "x.toml:2: network.delay: \"short\" is not a time from 0s to 2400h; write for example "
            "\"50us\"");
  EXPECT_EQ(
      problems("[network]\nhosts = \"four\"\n[job]\nmodel = \"vgg16\"\nhosts = [\"host9\"]\n"),
      "x.toml:2: network.hosts: \"four\" is not a whole number from 1 to 1000000");
}

// The one exception: 1 Gbit/s, the default, stands in for the rate. 1 Gbit/s x 200 us = 25,000
// bytes.
TEST(Network, JudgesAQueueByTheDefaultRateBesideABadOne) {
  EXPECT_EQ(
      network_problem("rate = \"fast\"\nqueue = 1"),
      "x.toml:2: network.rate: \"fast\" is not a rate above 0; write for example \"1Gbit\"\n"
      "x.toml:3: network.queue: 1 bytes are less than the delay needs: 1Gbit x 200us round trip "
      "= 25000 bytes; write queue = \"1bdp\" or allow_shallow_queue = true\n"
      "2 problems in x.toml");
}

TEST(JobModel, IsMatchedLoosely) {
  for (const char* spelling : {"resnet50", "ResNet-50", "RESNET_50", "res-net_50"}) {
    EXPECT_EQ(*parsed(std::string("[job]\nmodel = \"") + spelling + "\"").jobs[0].model,
              "resnet50");
  }
}

TEST(JobModel, IsGivenByNameOrBySize) {
  EXPECT_EQ(
      problems("[job]\n"),
      "x.toml:1: job: a job needs model = ... or parameters = ..., or for exec command = [...]");
  EXPECT_EQ(problems("[job]\nmodel = \"vgg16\"\nparameters = \"97MB\""),
            "x.toml:3: job.parameters: the job has a model already; remove one of them");
  EXPECT_EQ(**parsed("[job]\nparameters = \"97MB\"").jobs[0].parameters, 97_MB);
}

TEST(JobModel, IsNotNeededBesideACommand) {
  const Experiment experiment = parsed("[job]\ncommand = [\"python3\", \"train.py\"]\n");
  EXPECT_EQ(*experiment.jobs.at(0).command, (std::vector<std::string>{"python3", "train.py"}));
  EXPECT_THAT(problems("[job]\ncommand = []\n"), HasSubstr("[\"python3\", \"train.py\"]"));
}

TEST(JobNames, MustBeKnown) {
  EXPECT_THAT(job_problem("strategy = \"rign\""), HasSubstr("did you mean \"ring\"?"));
  EXPECT_THAT(job_problem("device = \"tpu\""),
              HasSubstr("unknown device \"tpu\"; known: a100, v100"));
  EXPECT_THAT(job_problem("transport = \"udp\""), HasSubstr("unknown transport \"udp\""));
  EXPECT_THAT(job_problem("framework = \"horovid\""), HasSubstr("did you mean \"horovod\"?"));
}

TEST(JobNames, PointToTheirListsWhenTheseAreLong) {
  Vocabulary many = test_vocabulary();
  const std::vector<std::string> names = {"a1", "b1", "c1", "d1", "e1", "f1", "g1"};
  many.models.insert(many.models.end(), names.begin(), names.end());
  many.models.push_back("h1");
  try {
    parse("[job]\nmodel = \"quicksort\"", "x.toml", many);
    FAIL() << "an unknown model was accepted";
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("`trainwire models` lists them"));
  }
}

TEST(JobHosts, ExistAndAreNotRepeated) {
  EXPECT_THAT(job_problem("hosts = [\"host0\", \"host4\"]"), HasSubstr("unknown host \"host4\""));
  EXPECT_THAT(job_problem("hosts = [\"host0\", \"hosst1\"]"), HasSubstr("did you mean \"host1\"?"));
  EXPECT_THAT(job_problem("hosts = [\"host0\", \"host0\"]"), HasSubstr("host0 stands there twice"));
}

TEST(JobPlacement, HasAHostOfTheJobForEachRank) {
  EXPECT_THAT(job_problem("ranks = 3\nplacement = [\"host0\", \"host1\"]"),
              HasSubstr("2 entries for 3 ranks"));
  EXPECT_THAT(job_problem("placement = [\"host0\", \"host7\"]"),
              HasSubstr("unknown host \"host7\""));
  EXPECT_THAT(job_problem("hosts = [\"host0\"]\nplacement = [\"host1\"]"),
              HasSubstr("host1 is not among the job's hosts"));
  const Job placed = job("placement = [\"host2\", \"host2\", \"host0\"]");
  EXPECT_EQ(placed.ranks, (Setting<int>{3, Origin::Derived}));
  EXPECT_EQ(*placed.hosts, (std::vector<std::string>{"host2", "host0"}));
}

TEST(JobRanks, AreOneForEachHostUnlessGiven) {
  EXPECT_EQ(job("").ranks, (Setting<int>{4, Origin::Derived}));
  EXPECT_EQ(*job("hosts = [\"host1\", \"host2\"]").ranks, 2);
  // Idle hosts are none of the job's.
  EXPECT_EQ(*job("ranks = 2").hosts, (std::vector<std::string>{"host0", "host1"}));
}

TEST(JobRanks, FollowFromWorkersAndServers) {
  const Job ps = job("strategy = \"ps\"\nworkers = 4\nservers = 2");
  EXPECT_EQ(ps.ranks, (Setting<int>{6, Origin::Derived}));
  EXPECT_EQ(job("strategy = \"ps\"").workers, (Setting<int>{3, Origin::Derived}));
  // Outside ps every rank is a worker.
  EXPECT_EQ(*job("workers = 3\nservers = 2").ranks, 3);
  EXPECT_EQ(job_problem("strategy = \"ps\"\nranks = 6\nworkers = 4\nservers = 2"), "");
  EXPECT_THAT(job_problem("strategy = \"ps\"\nranks = 5\nworkers = 4\nservers = 2"),
              HasSubstr("4 workers and 2 servers are not 5 ranks"));
}

TEST(JobServers, LeaveAWorker) {
  EXPECT_THAT(job_problem("strategy = \"ps\"\nservers = 4"),
              HasSubstr("job.servers: 4 of 4 ranks"));
  EXPECT_THAT(job_problem("strategy = \"ps\"\nranks = 1"), HasSubstr("job.ranks: 1 of 1 ranks"));
  EXPECT_THAT(job_problem("strategy = \"ps\"\nservers = 0"), HasSubstr("needs a server"));
  EXPECT_EQ(job_problem("servers = 4"), "");
}

TEST(JobRanks, AreNotMoreThanAMillionTogether) {
  EXPECT_THAT(job_problem("ranks = 1000001"), HasSubstr("from 1 to 1000000"));
  EXPECT_THAT(job_problem("strategy = \"ps\"\nworkers = 1000000"),
              HasSubstr("more than 1000000 ranks"));
  const std::string large = "[[job]]\nmodel = \"vgg16\"\nranks = 600000\n";
  EXPECT_EQ(problems(large + large + large),
            "x.toml:6: job.1.ranks: the jobs have more than 1000000 ranks together; write fewer");
}

// 50,000 samples, 4 workers of batch 64: ceil(50000 / 256) = 196 steps an epoch.
TEST(JobSteps, FollowFromEpochs) {
  EXPECT_EQ(job("batch = 64\nepochs = 20\ndataset = 50000").steps,
            (Setting<std::int64_t>{3920, Origin::Derived}));
  EXPECT_EQ(*job("batch = 64\nepochs = 0.5\ndataset = 50000").steps, 98);
  EXPECT_EQ(*job("batch = 64\nepochs = 0.001\ndataset = 50000").steps, 1);
  // Three workers beside the server: ceil(50000 / 192) = 261.
  EXPECT_EQ(*job("strategy = \"ps\"\nbatch = 64\nepochs = 1\ndataset = 50000").steps, 261);
}

TEST(JobSteps, ComeFromOneSource) {
  EXPECT_THAT(job_problem("epochs = 2"),
              HasSubstr("job.epochs: nothing says how long an epoch is"));
  EXPECT_THAT(job_problem("dataset = 100"), HasSubstr("job.dataset: has no effect without epochs"));
  EXPECT_THAT(job_problem("epochs = 2\ndataset = 9\nsteps = 3"),
              HasSubstr("job.steps: epochs says"));
  EXPECT_THAT(job_problem("steps = 0"), HasSubstr("job.steps"));
  EXPECT_THAT(job_problem("batch = 0"), HasSubstr("job.batch"));
  EXPECT_THAT(job_problem("batch = 1\nepochs = 1e9\ndataset = 1000000000000"),
              HasSubstr("too many"));
}

TEST(JobStraggler, IsAHostOfTheJob) {
  EXPECT_THAT(job_problem("straggler = \"host4\""), HasSubstr("unknown host \"host4\""));
  EXPECT_THAT(job_problem("straggler = \"host3\"\nranks = 2"), HasSubstr("no rank of this job"));
  EXPECT_THAT(job_problem("straggler = \"host3\"\nhosts = [\"host1\"]"), HasSubstr("no rank"));
  EXPECT_THAT(job_problem("straggler = \"host3\"\nplacement = [\"host1\"]"), HasSubstr("no rank"));
  EXPECT_THAT(job_problem("straggler = \"host3\"\nstraggler_factor = 0.9"), HasSubstr("from 1"));
  EXPECT_EQ(job_problem("straggler = \"host3\""), "");
}

TEST(Jobs, HaveNamesOfTheirOwn) {
  const std::string job = "[[job]]\nmodel = \"vgg16\"\n";
  EXPECT_EQ(*parsed(job + job).jobs[1].name, "job1");
  EXPECT_EQ(problems(job + "name = \"job1\"\n" + job),
            "x.toml:4: job.1.name: another job is named \"job1\" already; write another name");
}

TEST(Traffic, GoesFromOneHostToAnother) {
  EXPECT_EQ(problems("[traffic]\nload = 1"),
            "x.toml:1: traffic: traffic needs from = a host\n"
            "x.toml:1: traffic: traffic needs to = a host\n"
            "2 problems in x.toml");
  EXPECT_THAT(problems("[traffic]\nfrom = \"host0\"\nto = \"host4\"\nload = 1"),
              HasSubstr("\"host4\""));
  EXPECT_THAT(problems("[traffic]\nfrom = \"host0\"\nto = \"host0\"\nload = 1"),
              HasSubstr("traffic.to: host0 is where it comes from"));
}

TEST(Traffic, HasALoadOrAFile) {
  EXPECT_THAT(traffic_problem(""), HasSubstr("traffic needs load = 0.8"));
  EXPECT_THAT(traffic_problem("load = 1.2"), HasSubstr("a load above the bottleneck"));
  EXPECT_THAT(traffic_problem("kind = \"file\""), HasSubstr("needs file"));
  EXPECT_EQ(traffic_problem("kind = \"file\"\nfile = \"flows.csv\""), "");
  EXPECT_THAT(traffic_problem("kind = \"log\"\nload = 1"), HasSubstr("did you mean \"long\"?"));
}

TEST(Traffic, BurstsAboveTheMeanWithinAPeriod) {
  const std::string burst = "kind = \"burst\"\nload = 0.1\n";
  EXPECT_THAT(traffic_problem(burst + "burst_height = 1"), HasSubstr("write more than 1"));
  EXPECT_THAT(traffic_problem(burst + "burst_width = \"10ms\""),
              HasSubstr("traffic.burst_width: bursts of 10ms do not fit in a period of 10ms"));
  EXPECT_THAT(traffic_problem(burst + "period = \"1ms\""), HasSubstr("traffic.period"));
  EXPECT_EQ(traffic_problem(burst), "");
}

TEST(Capture, KeepsEnoughOfAPacket) {
  EXPECT_THAT(problems("[capture]\nsnaplen = 53"), HasSubstr("from 54 to 262144"));
  EXPECT_EQ(problems("[capture]\nsnaplen = 54"), "");
}

TEST(Run, HasAScaleAndRepeatsOfAtLeastOne) {
  EXPECT_THAT(problems("[run]\nscale = 0.5"), HasSubstr("run.scale"));
  EXPECT_THAT(problems("[run]\nrepeats = 0"), HasSubstr("run.repeats"));
  EXPECT_THAT(problems("[run]\ntimeout = 0"), HasSubstr("run.timeout"));
}

TEST(Expect, StatesOneKindOfBoundOnAMetric) {
  EXPECT_EQ(expect_problem("of = \"plan\"\nmetric = \"x\"\nequals = 3"), "");
  EXPECT_EQ(expect_problem("of = \"plan\"\nmetric = \"x\"\nat_least = 1\nat_most = 2"), "");
  EXPECT_THAT(expect_problem("of = \"plan\"\nequals = 3"), HasSubstr("needs metric"));
  EXPECT_THAT(expect_problem("metric = \"x\"\nequals = 3"), HasSubstr("needs of"));
  EXPECT_THAT(expect_problem("of = \"pla\"\nmetric = \"x\"\nequals = 3"), HasSubstr("\"plan\"?"));
  EXPECT_THAT(expect_problem("of = \"plan\"\nmetric = \"x\""), HasSubstr("needs equals"));
  EXPECT_THAT(expect_problem("of = \"plan\"\nmetric = \"x\"\nequals = 1\nat_most = 2"),
              HasSubstr("excludes"));
  EXPECT_THAT(expect_problem("of = \"plan\"\nmetric = \"x\"\nat_most = 2\ntolerance = 0.1"),
              HasSubstr("belongs to equals"));
  EXPECT_THAT(expect_problem("of = \"plan\"\nmetric = \"x\"\nat_least = 3\nat_most = 2"),
              HasSubstr("above"));
}

TEST(Parse, ResolvesAHundredThousandRanksInAMoment) {
  const auto start = std::chrono::steady_clock::now();
  const Experiment e =
      parsed("[network]\nhosts = 100000\n[job]\nmodel = \"vgg16\"\nranks = 200000\n");
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(e.jobs[0].placement->at(199'999), "host99999");
  EXPECT_EQ(e.jobs[0].placement->at(100'001), "host50000");
  // A release build takes about 15 ms; the limit leaves room for sanitizers on a busy machine.
  EXPECT_LT(took, 3s);
}

TEST(Parse, ChecksManyLinksInTimeProportionalToTheirNumber) {
  std::string text = "[network]\nhosts = 10000\nqueue = \"1MB\"\n";
  for (int host = 0; host < 10'000; ++host) {
    text += "[[network.link]]\nat = \"" + host_name(host) + "\"\nrate = \"500Mbit\"\n";
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(parsed(text).network.overrides.size(), 10'000u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
}

}  // namespace
}  // namespace tw::spec
