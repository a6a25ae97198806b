// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/training.h"

#include "trainwire/spec/parse.h"
#include "trainwire/spec/scale.h"
#include "trainwire/workload/vocabulary.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace tw::workload {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Training training(const std::string& job, double scale = 1) {
  const spec::Experiment e = spec::scaled(spec::parse(
      fmt::format("[network]\nhosts = 4\n[[job]]\n{}\n[run]\nseed = 5\nscale = {}\n", job, scale),
      "test", vocabulary()));
  return training_of(e, e.jobs.front());
}

TEST(Training, HasEverythingOfItsJob) {
  const Training job = training(
      "parameters = \"4kB\"\ncompute_time = \"30ms\"\ncompute_jitter = 0.1\nsteps = 7\n"
      "warmup = 2\noverlap = true\nconnections = 3\nside_connections = 1\nstart = \"1s\"\n"
      "straggler = \"host2\"\nstraggler_factor = 2");
  EXPECT_EQ(job.name, "job0");
  EXPECT_EQ(job.ranks(), 4);
  EXPECT_EQ(job.elements(), 1000);
  EXPECT_EQ(job.bytes(), Bytes(4000));
  EXPECT_EQ(job.compute.total(), std::chrono::milliseconds(30));
  EXPECT_EQ(job.compute.jitter, 0.1);
  EXPECT_EQ(job.arrangement.seed, 5u);
  EXPECT_EQ(job.factor(2), 2);
  EXPECT_EQ(job.factor(1), 1);
  EXPECT_EQ(job.steps + job.warmup, 9);
}

TEST(Training, KnowsWhoServes) {
  const Training job = training("parameters = \"4kB\"\nstrategy = \"ps\"\nservers = 3");
  EXPECT_EQ(job.workers(), 1);
  EXPECT_FALSE(job.is_server(0));
  EXPECT_TRUE(job.is_server(1));
  EXPECT_EQ(training("parameters = \"4kB\"").workers(), 4);
}

TEST(Training, IsAsynchronousWithServersThatAnswerAtOnceOrDrawnPeers) {
  EXPECT_FALSE(training("parameters = 4").asynchronous());
  EXPECT_FALSE(training("parameters = 4\nstrategy = \"ps\"").asynchronous());
  EXPECT_TRUE(training("parameters = 4\nstrategy = \"ps\"\nasynchronous = true").asynchronous());
  EXPECT_TRUE(training("parameters = 4\nstrategy = \"pair_averaging\"").asynchronous());
}

TEST(Training, FusesMoreWhereALinkOfItsHostsIsSlow) {
  const std::string job =
      "framework = \"horovod\"\nmodel = \"resnet50\"\ncompute_time = \"2s\"\nranks = 3\n";
  const auto slow = [](const std::string& host) {
    return "[[network.link]]\nat = \"" + host + "\"\ndirection = \"to_host\"\nrate = \"10Mbit\"";
  };
  const std::size_t usual = training(job).buckets.size();
  EXPECT_LT(training(job + slow("host1")).buckets.size(), usual);
  EXPECT_EQ(training(job + slow("host3")).buckets.size(), usual);  // nobody of the job is there
}

TEST(Training, PutsBucketsSideBySide) {
  const Training job = training("model = \"vgg16\"\nbucket = \"25MiB\"");
  ASSERT_GT(job.buckets.size(), 2u);
  EXPECT_EQ(job.range(0), (Range{.first = 0, .elements = job.buckets[0].elements}));
  EXPECT_EQ(job.range(1),
            (Range{.first = job.buckets[0].elements, .elements = job.buckets[1].elements}));
  EXPECT_EQ(job.range(kWholePayload), (Range{.first = 0, .elements = job.model.trainable()}));
}

TEST(Training, OfAScaledExperimentHasSmallerBucketsAndNothingElse) {
  const std::string text = "parameters = 4004\ncompute_time = \"30ms\"";
  const Training job = training(text);
  Training small = training(text, 10);
  EXPECT_EQ(small.elements(), 101);  // 1001 / 10, rounded up
  small.buckets = job.buckets;
  EXPECT_EQ(small, job);
}

TEST(Start, BringsTheWholeModelFromRankZeroOrShardsFromServers) {
  EXPECT_THAT(start_buckets(training("parameters = 400")), ElementsAre(kWholePayload));
  EXPECT_THAT(start_buckets(training("parameters = 400\nstrategy = \"ps\"")), ElementsAre(0));
  EXPECT_THAT(start_buckets(training("parameters = 400\nbroadcast = false")), IsEmpty());
  EXPECT_THAT(start_buckets(training("parameters = 400\nstrategy = \"pair_averaging\"")),
              IsEmpty());
}

TEST(Start, OfServersIsTheDistributionHalf) {
  const Training job = training("parameters = 400\nstrategy = \"ps\"\nservers = 2");
  const collective::Schedule schedule = start_schedule(job);
  EXPECT_EQ(schedule.program(0).size(), 1u);
  for (const collective::Transfer& t : transfers_of(schedule, 0)) {
    EXPECT_EQ(t.to, 0);
    EXPECT_EQ(t.combine, collective::Combine::Replace);
  }
}

}  // namespace
}  // namespace tw::workload
