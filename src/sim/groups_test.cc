// SPDX-License-Identifier: Apache-2.0
// Sums in switches and multicast, against what they must take and at both levels.

#include "trainwire/base/error.h"
#include "trainwire/sim/captures.h"
#include "trainwire/sim/describe.h"
#include "trainwire/sim/simulate.h"
#include "trainwire/spec/parse.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tw::sim {
namespace {

using ::testing::HasSubstr;

spec::Experiment experiment(const std::string& text) {
  spec::Vocabulary words{.models = {}, .strategies = {}, .devices = {"a100"}, .served = {"ps"}};
  for (const collective::Strategy& strategy : collective::catalogue()) {
    words.strategies.push_back(strategy.name);
  }
  return spec::parse(text, "x.toml", words, {});
}

constexpr std::int64_t kModel = 11'584'000;  // 8,000 packets
constexpr double kLine_s = 8'000 * 1514 * 8 / 1e9;

/// Hosts of 1 Gbit/s, the last one's link at another rate, and a job that computes nothing.
spec::Experiment hosts(int number, const std::string& server_rate, const std::string& job,
                       const std::string& network = "") {
  return experiment(fmt::format(
      "[network]\nhosts = {0}\ndelay = \"10us\"\n{4}\n[[network.link]]\nat = \"host{1}\"\nrate = "
      "\"{2}\"\n[[job]]\ncompute = \"none\"\nbroadcast = false\nparameters = {5}\nsteps = 2\n{3}\n",
      number, number - 1, server_rate, job, network, kModel));
}

const std::string kPs = "strategy = \"ps\"\n";
const std::string kSums = "aggregation = \"switch\"\n";
const std::string kMulticast = "distribution = \"multicast\"\n";

/// Seconds from when all ranks have ended one step until they have ended the next, the last one.
double step_s(const Simulated& simulated, std::size_t job = 0) {
  const std::int64_t steps = simulated.jobs[job].training.steps;
  Duration before = {};
  Duration end = {};
  for (const play::Step& one : all_steps(simulated.jobs[job])) {
    if (one.step == steps - 2) before = std::max(before, one.end);
    if (one.step == steps - 1) end = std::max(end, one.end);
  }
  return seconds(end - before);
}

double step_s(const spec::Experiment& asked, Level level) { return step_s(simulate(asked, level)); }

class InNetwork : public ::testing::TestWithParam<Level> {};
INSTANTIATE_TEST_SUITE_P(Levels, InNetwork, ::testing::Values(Level::Flow, Level::Packet));

// w = 8 workers and a server at b = B = 1 Gbit/s: M/b is the line's time. Aggregation takes w M / B
// where each worker's push goes to the server, max(M/b, M/B) where switches sum; distribution
// likewise. With streams 5 % for slow starts, without 0.5 %.
TEST_P(InNetwork, AServersStepTakesItsBytes) {
  const int w = 8;
  EXPECT_NEAR(step_s(hosts(w + 1, "1Gbit", kPs + kSums + kMulticast), GetParam()), 2 * kLine_s,
              0.005 * 2 * kLine_s);
  const double half = (w + 1) * kLine_s;
  EXPECT_NEAR(step_s(hosts(w + 1, "1Gbit", kPs + kSums), GetParam()), half, 0.05 * half);
  EXPECT_NEAR(step_s(hosts(w + 1, "1Gbit", kPs + kMulticast), GetParam()), half, 0.05 * half);
}

// A server at a quarter of the workers' rate: 2 max(M/b, M/B) = 8 M/b; at ten times it, 2 M/b.
TEST_P(InNetwork, TheSlowerLinkCounts) {
  EXPECT_NEAR(step_s(hosts(5, "250Mbit", kPs + kSums + kMulticast), GetParam()), 8 * kLine_s,
              0.01 * 8 * kLine_s);
  EXPECT_NEAR(step_s(hosts(5, "10Gbit", kPs + kSums + kMulticast), GetParam()), 2 * kLine_s,
              0.01 * 2 * kLine_s);
}

// Both together carry M on each link each way and step (an answer or two may still wait); ranks
// are told that they moved 2 w M.
TEST_P(InNetwork, BothCarryTheModelOnceEachWay) {
  const Simulated found = simulate(hosts(5, "1Gbit", kPs + kSums + kMulticast), GetParam());
  for (int port = 0; port < 10; ++port) {
    EXPECT_NEAR(found.ports[static_cast<std::size_t>(port)].payload_bytes, 2.0 * kModel, 100)
        << port;
  }
  const record::Run run = described(hosts(5, "1Gbit", kPs + kSums + kMulticast), found);
  for (const record::Check& check : run.checks) EXPECT_TRUE(check.ok) << check.text;
  EXPECT_THAT(run.checks.back().name, "switches");
}

// Two servers have half of the model each, at the same time: 2 M/b still, 2 % for their shares.
TEST_P(InNetwork, ShardsShareTheWorkersLinks) {
  EXPECT_NEAR(step_s(hosts(6, "1Gbit", kPs + "servers = 2\n" + kSums + kMulticast), GetParam()),
              2 * kLine_s, 0.02 * 2 * kLine_s);
}

// All under rank 0, piece by piece: M up and M down at the same time but for one piece of eight,
// and 3 % for answers that go against the data.
TEST_P(InNetwork, AStarIsPipelined) {
  const double step = step_s(
      hosts(6, "1Gbit", "strategy = \"star\"\npieces = 8\n" + kSums + kMulticast), GetParam());
  EXPECT_NEAR(step, kLine_s * (1 + 1 / 8.0), 0.04 * kLine_s);
}

// Each of six ranks is the root of a sixth: (P-1)/P M on each link each way, and as much back. By
// packets sums of five roots wait for one another on every rank's line: within 10 %.
TEST_P(InNetwork, ACliqueSumsAtEveryRank) {
  const double step =
      step_s(hosts(6, "1Gbit", "strategy = \"clique\"\n" + kSums + kMulticast), GetParam());
  // Up: a rank sends five sixths and gets one; down: it sends one sixth and gets five.
  EXPECT_NEAR(step, 2 * 5 / 6.0 * kLine_s, 0.1 * 2 * 5 / 6.0 * kLine_s);
}

// 32 slots for a round trip of 4 ms (and 25 us): 371 KB of payload each, for up and for down.
TEST_P(InNetwork, SlotsBoundTheRate) {
  const spec::Experiment asked =
      experiment(fmt::format("[network]\nhosts = 4\ndelay = \"1ms\"\n[[job]]\ncompute = "
                             "\"none\"\nbroadcast = false\nparameters = {}\nsteps = 2\nstrategy = "
                             "\"ps\"\naggregation_slots = 32\n{}{}",
                             kModel / 8, kSums, kMulticast));
  const double half = 1000 / 32.0 * 4.025e-3;
  EXPECT_NEAR(step_s(asked, GetParam()), 2 * half, 0.05 * 2 * half);
}

// Two jobs on the same hosts share links and slots: in step each has half of every link. By packets
// one comes to be ahead, and sums while the other's model comes down.
TEST_P(InNetwork, TwoJobsShareLinksAndSlots) {
  const std::string job = fmt::format(
      "[[job]]\ncompute = \"none\"\nbroadcast = false\nparameters = {}\nsteps = 2\n{}{}{}", kModel,
      kPs, kSums, kMulticast);
  const Simulated found =
      simulate(experiment("[network]\nhosts = 5\ndelay = \"10us\"\n" + job + job), GetParam());
  for (const std::size_t i : {0, 1}) {
    EXPECT_LT(step_s(found, i), 1.05 * 4 * kLine_s);
    EXPECT_GT(step_s(found, i), 2 * kLine_s);
  }
  EXPECT_GT(seconds(found.end), 1.2 * 4 * kLine_s);
}

// The first model is the servers', which multicast it: it takes M/B.
TEST_P(InNetwork, TheFirstModelIsMulticast) {
  const Simulated found =
      simulate(experiment(fmt::format("[network]\nhosts = 5\ndelay = \"10us\"\n[[job]]\ncompute = "
                                      "\"none\"\nparameters = {}\nsteps = 1\n{}{}",
                                      kModel, kPs, kMulticast)),
               GetParam());
  Duration begin = {};
  for (const play::Step& one : all_steps(found.jobs[0])) begin = std::max(begin, one.begin);
  EXPECT_NEAR(seconds(begin), kLine_s, 0.01 * kLine_s);
}

TEST_P(InNetwork, OneWorkerNeedsNoSwitch) {
  EXPECT_NEAR(step_s(hosts(2, "1Gbit", kPs + kSums + kMulticast), GetParam()), 2 * kLine_s,
              0.05 * 2 * kLine_s);
}

// Loss of 0.5 % on ten ports each way: 1 - 0.995^5 = 2.5 % of the packets are sent again each way,
// and a time-out of some milliseconds may end a phase.
TEST_P(InNetwork, LossCostsLittle) {
  const double step =
      step_s(hosts(5, "1Gbit", kPs + kSums + kMulticast, "loss = 0.005"), GetParam());
  EXPECT_GT(step, 2 * kLine_s * 1.015);
  EXPECT_LT(step, 2 * kLine_s * 1.05 + 10e-3);
}

// Beside cross traffic, and with ranks that share hosts: every check of the record holds.
TEST_P(InNetwork, ChecksHoldBesideTraffic) {
  const spec::Experiment asked = experiment(fmt::format(
      "[network]\nhosts = 4\n[[job]]\nranks = 7\ncompute = \"none\"\nparameters = "
      "2000000\nsteps = 2\n{}{}{}\n[[traffic]]\nkind = \"long\"\nfrom = \"host0\"\nto = \"host3\"\n"
      "load = 0.3\n",
      kPs, kSums, kMulticast));
  for (const record::Check& check : described(asked, simulate(asked, GetParam())).checks) {
    EXPECT_TRUE(check.ok) << check.text;
  }
}

TEST_P(InNetwork, EqualFilesGiveEqualTimes) {
  const auto times = [] {
    std::vector<Duration> ends;
    const spec::Experiment asked = hosts(5, "300Mbit", kPs + kSums + kMulticast, "loss = 0.01");
    for (const play::Step& one : all_steps(simulate(asked, GetParam()).jobs[0]))
      ends.push_back(one.end);
    return ends;
  };
  EXPECT_EQ(times(), times());
}

std::string problem(const std::string& job) {
  try {
    simulate(hosts(4, "1Gbit", job));
    return "";
  } catch (const SpecError& error) {
    return error.what();
  }
}

TEST(InNetwork, WhatMakesNoSenseIsRefused) {
  EXPECT_THAT(problem("strategy = \"ring\"\n" + kSums), HasSubstr("no two ranks send one rank"));
  EXPECT_THAT(problem("strategy = \"broadcast\"\n" + kMulticast),
              HasSubstr("no rank sends one chunk"));
  EXPECT_THAT(problem("strategy = \"pair_averaging\"\n" + kSums), HasSubstr("asynchronous ranks"));
  EXPECT_THAT(problem(kPs + "asynchronous = true\n" + kSums), HasSubstr("asynchronous ranks wait"));
  EXPECT_THAT(problem(kPs + "asynchronous = true\n" + kMulticast),
              HasSubstr("answered one by one"));
  EXPECT_THAT(problem(kPs + "transport = \"rdma\"\n" + kSums), HasSubstr("RDMA"));
  EXPECT_THROW(Captures(hosts(4, "1Gbit", kPs + kSums), "/nowhere"), SpecError);
}

// Sums beside long flows that ask for nine tenths of the server's line: those have nearly all of it,
// or what is left.
TEST_P(InNetwork, GroupsHaveTheirJobsPriority) {
  const std::string traffic =
      "[[traffic]]\nkind = \"long\"\nflows = 4\nload = 0.9\nfrom = \"host0\"\nto = \"host3\"\n";
  const auto took = [&](int priority) {
    return step_s(
        hosts(4, "1Gbit",
              fmt::format("{}{}{}priority = {}\n{}", kPs, kSums, kMulticast, priority, traffic)),
        GetParam());
  };
  EXPECT_NEAR(took(1), 2 * kLine_s, 0.1 * kLine_s);
  EXPECT_GT(took(0), 1.2 * took(1));
}

// Of 150 members' packets with one number hardly ever all come at once; who has contributed has done so.
TEST(InNetworkLoss, ManyLossyLinksCostRoundTripsNotHours) {
  const spec::Experiment asked = hosts(151, "1Gbit", kPs + kSums + kMulticast, "loss = 0.05");
  EXPECT_LT(step_s(asked, Level::Flow), 1);
}

}  // namespace
}  // namespace tw::sim
