// SPDX-License-Identifier: Apache-2.0
#include "trainwire/predict/plan.h"

#include "trainwire/base/error.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/spec/parse.h"
#include "trainwire/workload/vocabulary.h"
#include "trainwire/zoo/zoo.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace tw::predict {
namespace {

using namespace std::chrono_literals;

spec::Experiment experiment(const std::string& text) {
  return spec::parse(text, "test.toml", workload::vocabulary());
}

JobPlan plan_of(const std::string& network, const std::string& job) {
  const spec::Experiment e = experiment(fmt::format("[network]\n{}\n[[job]]\n{}\n", network, job));
  return plan(e, e.jobs.front());
}

/// 1,000,000 elements on `hosts` hosts at 1 Gbit/s without delay.
JobPlan plain(const std::string& strategy, int hosts, const std::string& more = "") {
  return plan_of(fmt::format("hosts = {}\nrate = \"1Gbit\"\ndelay = \"0s\"", hosts),
                 fmt::format("strategy = \"{}\"\nparameters = \"4MB\"\ncompute = \"none\"\n{}",
                             strategy, more));
}

std::vector<std::tuple<int, int, std::int64_t>> pairs(const JobPlan& job) {
  std::vector<std::tuple<int, int, std::int64_t>> result;
  for (const PairBytes& pair : job.step.pairs)
    result.emplace_back(pair.from, pair.to, pair.bytes.count());
  return result;
}

TEST(Plan, RingSendsToItsSuccessorOnly) {
  // OR-1: 2(N-1)/N * M = 1.5 * 4 MB on each of four edges.
  const JobPlan job = plain("ring", 4);
  EXPECT_THAT(pairs(job),
              testing::ElementsAre(std::tuple(0, 1, 6'000'000), std::tuple(1, 2, 6'000'000),
                                   std::tuple(2, 3, 6'000'000), std::tuple(3, 0, 6'000'000)));
  EXPECT_EQ(job.step.total, 24_MB);
  EXPECT_EQ(job.step.rounds, 6);
  EXPECT_EQ(job.step.transfers, 24);
}

TEST(Plan, StarSendsThroughItsRoot) {
  // OR-2: M each way on each of three edges.
  const JobPlan job = plain("star", 4);
  EXPECT_EQ(job.step.pair_count, 6);
  EXPECT_EQ(job.step.total, 24_MB);
  EXPECT_EQ(job.step.link_bytes, 12_MB);
  EXPECT_EQ(job.step.busiest_host, 0);
}

TEST(Plan, ParameterServerMovesTwoMW) {
  // OR-4, OR-8: 2 * m * w bytes in n*w + n*w transfers; host 3 is the server of three workers.
  const JobPlan job = plain("ps", 4, "servers = 1");
  EXPECT_EQ(job.step.total, 24_MB);
  EXPECT_EQ(job.step.transfers, 6);
  EXPECT_EQ(job.step.busiest_host, 3);
  EXPECT_EQ(job.step.link_bytes, 12_MB);
}

TEST(Plan, PairAveragingGivesTheExpectation) {
  // OR-5: each rank pulls 2M/N from its successor and M/N from each other peer; N*M in all.
  const JobPlan job = plain("pair_averaging", 4);
  EXPECT_EQ(job.step.total, 16_MB);
  EXPECT_EQ(job.step.pair_count, 12);
  EXPECT_EQ(job.flows.gradient, 12);
  EXPECT_THAT(pairs(job), testing::Contains(std::tuple(1, 0, 2'000'000)));
  EXPECT_THAT(pairs(job), testing::Contains(std::tuple(0, 1, 1'000'000)));
}

TEST(Plan, RanksOfAHostTalkInsideIt) {
  // OR-6: 16 ranks on 4 hosts: 2*15/16 * M on each of the 4 hops, the other 12 of 16 edges stay
  // inside.
  const JobPlan job = plain("ring", 4, "ranks = 16");
  EXPECT_EQ(job.step.total, Bytes(4 * 7'500'000));
  EXPECT_EQ(job.step.local, Bytes(12 * 7'500'000));
  EXPECT_EQ(job.step.pair_count, 4);
}

TEST(Plan, OneRankPutsNothingOnTheNetwork) {
  const JobPlan job = plain("ring", 1);
  EXPECT_EQ(job.step.total, Bytes(0));
  EXPECT_EQ(job.step.pair_count, 0);
  EXPECT_EQ(job.exchange_bound, Duration::zero());
  EXPECT_EQ(job.training.share_before, 0);
}

TEST(Plan, OneElementIsMovedInFull) {
  // One of four chunks holds the element; it crosses three edges twice.
  const JobPlan job = plan_of("hosts = 4", "parameters = \"4B\"\ncompute = \"none\"");
  EXPECT_EQ(job.step.total, Bytes(24));
  EXPECT_EQ(job.step.rank_sent, Bytes(8));
}

TEST(Plan, BoundIsTheBusiestLinksTime) {
  // 6 MB at 1 Gbit/s take 48 ms each way, at once.
  EXPECT_EQ(plain("ring", 4).exchange_bound, 48ms);
}

TEST(Plan, BoundAddsLatencyForEachDependentRound) {
  // Two links of 1 ms one way, six rounds, each 8 ms of bytes: 6 * (2 + 8) ms.
  const JobPlan job = plan_of("hosts = 4\nrate = \"1Gbit\"\ndelay = \"1ms\"",
                              "parameters = \"4MB\"\ncompute = \"none\"");
  EXPECT_EQ(job.exchange_bound, 60ms);
}

TEST(Plan, BoundFollowsASlowLink) {
  // Host 2 receives 6 MB at 100 Mbit/s: 480 ms.
  const JobPlan job = plan_of(
      "hosts = 4\nrate = \"1Gbit\"\ndelay = \"0s\"\n[[network.link]]\nat = \"host2\"\ndirection = "
      "\"to_host\"\nrate = \"100Mbit\"",
      "parameters = \"4MB\"\ncompute = \"none\"");
  EXPECT_EQ(job.exchange_bound, 480ms);
}

TEST(Plan, OverlapHidesTheExchangeBehindBackwardOnly) {
  // Forward is a third of 90 ms. Exchange 48 ms: 90 hides 30 + 48; without overlap they add up.
  const char* network = "hosts = 4\nrate = \"1Gbit\"\ndelay = \"0s\"";
  const std::string job = "parameters = \"4MB\"\ncompute_time = \"90ms\"\noverlap = ";
  EXPECT_EQ(plan_of(network, job + "true").iteration_bound, 90ms);
  EXPECT_EQ(plan_of(network, job + "false").iteration_bound, 138ms);
}

TEST(Plan, RequiredBandwidthHidesTheBusiestLinkBehindCompute) {
  // 6 MB in 48 ms of compute: 1 Gbit/s.
  const JobPlan job = plan_of("hosts = 4", "parameters = \"4MB\"\ncompute_time = \"48ms\"");
  EXPECT_EQ(job.required_bandwidth, 1_Gbit);
}

TEST(Plan, CountsWarmUpAndBroadcastBeforeTraining) {
  // Four ranks: a step moves 6M, the broadcast 3M. (5*6 + 3) / (205*6 + 3).
  const JobPlan job = plain("ring", 4, "warmup = 5\nsteps = 200");
  EXPECT_EQ(job.training.broadcast_bytes, 12e6);
  EXPECT_DOUBLE_EQ(job.training.share_before, 33.0 / 1233.0);
}

TEST(Plan, BucketsMoveTheSameBytesInMoreRounds) {
  const JobPlan whole = plan_of("hosts = 4", "model = \"resnet50-torchvision\"");
  const JobPlan cut = plan_of("hosts = 4", "model = \"resnet50-torchvision\"\nbucket = \"25MiB\"");
  EXPECT_EQ(whole.step.total, cut.step.total);
  EXPECT_EQ(whole.step.rounds, 6);
  EXPECT_EQ(cut.step.rounds, 6 * cut.step.buckets);
  EXPECT_GT(cut.step.buckets, 3);
}

TEST(Plan, FlowsOfARingAndATreeAsTheTumStudyCountsThem) {
  // Ring of 4: 4 gradient, 4 acknowledgement, 2 control connections a rank. KungFu's tree: 3 edges,
  // 2 connections each.
  const JobPlan ring = plan_of("hosts = 4", "framework = \"horovod\"\nmodel = \"resnet50\"");
  EXPECT_EQ(ring.flows.gradient, 4);
  EXPECT_EQ(ring.flows.acknowledgement, 4);
  EXPECT_EQ(ring.flows.side, 16);
  const JobPlan tree = plan_of("hosts = 4", "framework = \"kungfu\"\nmodel = \"resnet50\"");
  EXPECT_EQ(tree.flows.gradient, 12);
  EXPECT_EQ(tree.flows.acknowledgement, 0);
}

TEST(Plan, DensePairsOfManyHostsAreCountedNotListed) {
  const JobPlan job = plain("clique", 2000);
  EXPECT_EQ(job.step.pair_count, 2000 * 1999);
  EXPECT_TRUE(job.step.pairs.empty());
  EXPECT_EQ(job.step.total, Bytes(2LL * 1999 * 4'000'000));
}

}  // namespace
}  // namespace tw::predict
