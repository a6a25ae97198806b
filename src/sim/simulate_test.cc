// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/simulate.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/parse.h"
#include "trainwire/workload/volume.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <tuple>

namespace tw::sim {
namespace {

using namespace std::chrono_literals;

spec::Experiment experiment(const std::string& text) {
  spec::Vocabulary words{.models = {}, .strategies = {}, .devices = {"a100"}, .served = {"ps"}};
  for (const collective::Strategy& strategy : collective::catalogue()) {
    words.strategies.push_back(strategy.name);
  }
  return spec::parse(text, "x.toml", words, {});
}

/// The longest of a job's last steps: of connections that have found their rate.
Duration warm_step(const SimulatedJob& job) {
  Duration longest = {};
  for (const play::Step& step : all_steps(job)) {
    if (step.step == job.training.steps - 1) longest = std::max(longest, step.end - step.begin);
  }
  return longest;
}

constexpr const char* kJob = "[[job]]\ncompute = \"none\"\nbroadcast = false\n";

// Six rounds of a quarter of the model over a line of 1 Gbit/s, which is never idle: what comes is
// passed on while it comes. The last byte has its way to go.
TEST(Simulate, ARingTakesItsRounds) {
  const Simulated found = simulate(
      experiment(fmt::format("[network]\nhosts = 4\n{}parameters = 4000000\nsteps = 3\n", kJob)));
  const double chunk_s = 8 * 1e6 / 1e9 * 1514 / 1448;
  const double way_s = 100e-6 + 8 * 1514 / 1e9;
  ASSERT_EQ(found.jobs.size(), 1U);
  EXPECT_EQ(all_steps(found.jobs[0]).size(), 12U);
  EXPECT_NEAR(seconds(warm_step(found.jobs[0])), 6 * chunk_s + way_s, 1e-6);
  EXPECT_EQ(found.messages, 3 * 4 * 6);
  EXPECT_NEAR(found.ports[0].payload_bytes, 3 * 6e6, 1);
}

// Where the way takes longer than a chunk, the first bytes of each round have come such a way.
TEST(Simulate, ALongWayIsPaidOnceARound) {
  const Simulated found = simulate(experiment(fmt::format(
      "[network]\nhosts = 4\ndelay = \"20ms\"\n{}parameters = 24000\nsteps = 3\n", kJob)));
  const double chunk_s = 8 * 6000 / 1e9 * 1514 / 1448;
  const double first_s = 40e-3 + 2 * 8 * 1514 / 1e9;
  EXPECT_NEAR(seconds(warm_step(found.jobs[0])), 6 * first_s + chunk_s - 8 * 1514 / 1e9, 1e-6);
}

/// Of a ring of `ranks` under loss, 100 kB a chunk: the mean of its steps.
double lossy_step_s(int ranks, double loss, Level level) {
  constexpr int kSteps = 48;
  const Simulated found = simulate(
      experiment(fmt::format("[network]\nhosts = {}\nrate = \"200Mbit\"\ndelay = \"1ms\"\nloss = "
                             "{}\n{}parameters = {}\nsteps = {}\n",
                             ranks, loss, kJob, ranks * 100'000, kSteps)),
      level);
  return seconds(found.end) / kSteps;
}

// A hop that loses something holds up the next one, and a stall everybody: what rings make of it is
// not added to the flow level but comes of its draws. Without loss a step of eight takes 61 ms.
TEST(Simulate, RingsUnderLossVaryAndStallAsPacketsDo) {
  for (const int ranks : {4, 8}) {
    for (const double loss : {0.0005, 0.005}) {
      const double packets_s = lossy_step_s(ranks, loss, Level::Packet);
      EXPECT_NEAR(lossy_step_s(ranks, loss, Level::Flow), packets_s, 0.35 * packets_s)
          << ranks << " ranks, " << loss;
    }
  }
}

// Windows of short ways grow between two events; who looks at a stream again looks at its window too.
TEST(Simulate, NoStreamUnderLossStandsStill) {
  for (int seed = 1; seed <= 4; ++seed) {
    spec::Experiment asked =
        experiment(fmt::format("[network]\nhosts = 4\nrate = \"10Gbit\"\ndelay = \"25us\"\nloss = "
                               "0.0005\n{}parameters = 9000000\nsteps = 10\n",
                               kJob));
    asked.run.seed = {static_cast<std::uint64_t>(seed)};
    EXPECT_LT(simulate(asked).end, 3s) << seed;
  }
}

// A core as fast as a host's link is shared by two jobs: each takes twice as long, less the way.
TEST(Simulate, TwoJobsShareACore) {
  const std::string network = "[network]\ntopology = \"dumbbell\"\nhosts = 4\ndelay = 0\n";
  const auto job = [](const char* hosts) {
    return fmt::format("{}parameters = 8000000\nsteps = 2\nhosts = {}\n", kJob, hosts);
  };
  const std::string first = job("[\"host0\", \"host2\"]");
  const std::string second = job("[\"host1\", \"host3\"]");
  const Simulated alone = simulate(experiment(network + first));
  const Simulated both = simulate(experiment(network + first + second));
  EXPECT_NEAR(seconds(warm_step(both.jobs[0])) / seconds(warm_step(alone.jobs[0])), 2, 1e-3);
  EXPECT_EQ(warm_step(both.jobs[0]), warm_step(both.jobs[1]));
}

// Twelve workers push a megabyte each into a server's link and get it back over the same one.
TEST(Simulate, AServerServesManyWorkersAtOnce) {
  const Simulated found = simulate(experiment(fmt::format(
      "[network]\nhosts = 13\n{}strategy = \"ps\"\nparameters = 1000000\nsteps = 3\n", kJob)));
  const double all_s = 12 * 8 * 1e6 / 1e9 * 1514 / 1448;
  const double way_s = 100e-6 + 8 * 1514 / 1e9;
  EXPECT_NEAR(seconds(warm_step(found.jobs[0])), 2 * (all_s + way_s), 1e-6);
  EXPECT_EQ(found.messages, 3 * 2 * 12);
}

TEST(Simulate, AJobBeginsWhenItSays) {
  const Simulated found = simulate(experiment(
      fmt::format("[network]\nhosts = 2\n{}parameters = 4\nsteps = 1\nstart = \"3s\"\n", kJob)));
  EXPECT_EQ(all_steps(found.jobs[0])[0].begin, 3s);
}

// Of six ranks two fold in first, 1.5 MB each, and get the sum last: 3, 1.5 and 0.75 MB and back are 439 ms of the
// line, and some 25 of ways. Who is ahead sends to those that do not read yet: 64 KiB or two round trips, not all of it, which
// would share their lines with what they wait for (a run: 468 ms).
TEST(Simulate, RanksThatAreAheadDoNotFillTheLinesOfThoseBehind) {
  const auto made = experiment(
      "[network]\nhosts = 6\nrate = \"100Mbit\"\ndelay = \"1ms\"\ncongestion_control = \"reno\"\n"
      "[[job]]\nstrategy = \"halving_doubling\"\nparameters = \"1500kB\"\ncompute_time = "
      "\"20ms\"\nsteps = 4\n");
  for (const Level level : {Level::Flow, Level::Packet}) {
    const Simulated found = simulate(made, level);
    const play::Step& last = found.jobs[0].steps.back();
    EXPECT_NEAR(seconds(last.end - last.begin), 0.48, 0.025) << name_of(level);
  }
}

// Transfers that switches copy come before others between the same ranks that were sent earlier.
TEST(Simulate, WhatSwitchesCopyMayOvertakeWhatComesByItself) {
  const auto made = experiment(
      "[network]\nhosts = 3\nrate = \"100Mbit\"\n[[job]]\nstrategy = \"clique\"\nparameters = "
      "\"2MB\"\nbucket = \"300kB\"\n"
      "overlap = true\nconnections = 4\ndistribution = \"multicast\"\nsteps = 2\ncompute_time = "
      "\"10ms\"\n");
  for (const Level level : {Level::Flow, Level::Packet}) {
    EXPECT_FALSE(simulate(made, level).jobs[0].steps.empty()) << name_of(level);
  }
}

// Who has not read yet learns of its turn by what comes: buckets of 4 MB, more than a socket holds.
TEST(Simulate, BucketsLargerThanSocketsTakeTurnsWhereForwardOverlaps) {
  const auto made = experiment(
      "[network]\nhosts = 3\n[[job]]\nstrategy = \"ps\"\nservers = 1\nparameters = "
      "\"16MB\"\nbucket = \"4MB\"\n"
      "overlap = true\nforward_overlap = true\nbroadcast = false\ncompute_time = \"100ms\"\nsteps "
      "= 2\n");
  for (const Level level : {Level::Flow, Level::Packet}) {
    EXPECT_FALSE(simulate(made, level).jobs[0].steps.empty()) << name_of(level);
  }
}

/// Every strategy with some ranks, several of them on a host, as fluids and over a lossy network.
class SimulatedStrategies : public testing::TestWithParam<std::tuple<std::string, Level>> {};

TEST_P(SimulatedStrategies, MoveWhatTheScheduleSaysAndNoLinkIsOverfull) {
  const auto& [strategy, level] = GetParam();
  const bool is_fluid = level == Level::Flow;
  int ran = 0;
  for (const int ranks : {1, 2, 3, 5, 8, 13}) {
    for (const char* more : {"", "bucket = 4000\noverlap = true\ncompute_time = \"1ms\"\n"}) {
      spec::Experiment made;
      Simulated found;
      try {
        made = experiment(
            fmt::format("[network]\nhosts = {}\nloss = {}\n[[job]]\nparameters = {}\n"
                        "steps = 2\nstrategy = \"{}\"\nranks = {}\n{}{}",
                        std::max(1, ranks / 2), is_fluid ? 0 : 0.003, is_fluid ? 10004 : 60004,
                        strategy, ranks, more, *more == 0 ? "compute = \"none\"\n" : ""));
        found = simulate(made, level);
      } catch (const SpecError&) {
        continue;  // a strategy that needs more, or other, ranks
      }
      ++ran;
      const SimulatedJob& job = found.jobs[0];
      const auto planned = workload::bytes_by_rank(job.training);
      for (std::size_t from = 0; from < planned.size(); ++from) {
        for (std::size_t to = 0; to < planned.size(); ++to) {
          const auto moved = job.gradients.find({static_cast<int>(from), static_cast<int>(to)});
          EXPECT_EQ(moved == job.gradients.end() ? 0 : moved->second, planned[from][to])
              << strategy << ' ' << ranks;
        }
      }
      const network::Network network(made.network);
      for (int port = 0; port < network.ports(); ++port) {
        EXPECT_LE(8 * found.ports[static_cast<std::size_t>(port)].wire_bytes,
                  network.request(port).rate.bits_per_second() * seconds(found.end) + 1);
      }
    }
  }
  EXPECT_GE(ran, 4);
}

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const collective::Strategy& strategy : collective::catalogue()) {
    names.emplace_back(strategy.name);
  }
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, SimulatedStrategies,
                         testing::Combine(testing::ValuesIn(strategy_names()),
                                          testing::Values(Level::Flow, Level::Packet)));

}  // namespace
}  // namespace tw::sim
