// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/account.h"

#include "trainwire/account/test_experiments.h"
#include "trainwire/sim/describe.h"

#include <gmock/gmock.h>

#include <cmath>

namespace tw::account {
namespace {

using testing::HasSubstr;

/// Simulated and accounted for.
record::Run simulated(const spec::Experiment& experiment) {
  record::Run run = sim::described(experiment, sim::simulate(experiment));
  add(experiment, run);
  return run;
}

record::Run simulated(const std::string& text) { return simulated(parsed(text)); }

std::string ring(const std::string& network, const std::string& job) {
  return "[network]\nhosts = 4\nrate = \"200Mbit\"\ndelay = \"200us\"\n" + network +
         "[[job]]\nparameters = \"2MB\"\nsteps = 4\nwarmup = 1\n" + job;
}

double sum_of(const record::Accounting& accounting) {
  double sum = 0;
  for (const record::AccountPart& part : accounting.parts) sum += part.seconds;
  return sum;
}

TEST(Account, PartsAddUpToTheStep) {
  const record::Run run = simulated(ring("", "compute_time = \"20ms\"\n"));
  ASSERT_TRUE(run.accounting);
  EXPECT_NEAR(sum_of(*run.accounting), run.jobs[0].step->median_s, 1e-9);
  EXPECT_NEAR(record::part_s(*run.accounting, "compute"), 0.02, 1e-3);
  EXPECT_NEAR(record::part_s(*run.accounting, "bandwidth"), 8 * 3e6 / 200e6, 0.01);
  EXPECT_EQ(run.verdict->cause, "bandwidth");
  EXPECT_EQ(run.verdict->where, "");
}

TEST(Account, BlamesTheSlowLink) {
  const record::Run run = simulated(
      ring("[[network.link]]\nat = \"host1\"\ndirection = \"to_host\"\nrate = \"50Mbit\"\n",
           "compute_time = \"20ms\"\n"));
  EXPECT_EQ(run.verdict->cause, "slow_link");
  EXPECT_EQ(run.verdict->where, "host1 to_host");
  EXPECT_THAT(run.verdict->text, HasSubstr("host1's way in, 50 Mbit/s"));
  EXPECT_THAT(run.verdict->text, HasSubstr("At 200 Mbit/s a step would take"));
  const record::Run without = simulated(ring("", "compute_time = \"20ms\"\n"));
  EXPECT_NEAR(run.accounting->step_s - run.verdict->gain_s, without.accounting->step_s, 1e-6);
}

TEST(Account, NamesBothOfTwoSlowLinks) {
  const auto slow = [](const char* host) {
    return fmt::format(
        "[[network.link]]\nat = \"{}\"\ndirection = \"to_host\"\nrate = \"50Mbit\"\n", host);
  };
  const record::Run run =
      simulated(ring(slow("host1") + slow("host3"), "compute_time = \"20ms\"\n"));
  EXPECT_THAT(run.verdict->text, HasSubstr("host1's way in, 50 Mbit/s where its peers have 200 "
                                           "Mbit/s, and host3's way in, 50 Mbit/s."));
}

TEST(Account, BlamesTheLinkThatIsFar) {
  const record::Run run = simulated(
      ring("[[network.link]]\nat = \"host1\"\ndelay = \"80ms\"\n", "compute_time = \"20ms\"\n"));
  EXPECT_EQ(run.verdict->cause, "latency");
  EXPECT_EQ(run.verdict->where, "host1");
  EXPECT_THAT(run.verdict->text, HasSubstr("delay, 80 ms on host1's link where its peers have"));
}

// Whoever waits for the late host would not see the slow link, and the other way round: without one of them the other is left.
TEST(Account, IsNotSureOfACauseThatHidesAnother) {
  const record::Run run = simulated(
      ring("[[network.link]]\nat = \"host2\"\ndirection = \"from_host\"\nrate = \"100Mbit\"\n",
           "compute_time = \"200ms\"\nstraggler = \"host0\"\nstraggler_factor = 1.8\n"));
  EXPECT_EQ(run.verdict->cause, "slow_link");
  EXPECT_LT(run.verdict->confidence, 0.5);
  EXPECT_THAT(run.verdict->text, HasSubstr("as waiting for a late rank would take its place."));
}

TEST(Account, BlamesTheHostThatComputesLonger) {
  const record::Run run = simulated(
      ring("", "compute_time = \"300ms\"\nstraggler = \"host2\"\nstraggler_factor = 1.5\n"));
  EXPECT_EQ(run.verdict->cause, "late_rank");
  EXPECT_EQ(run.verdict->where, "host2");
  EXPECT_NEAR(run.verdict->cost_s, 0.15, 0.005);
  EXPECT_THAT(run.verdict->text, HasSubstr("host2 computes 150 ms longer than the others"));
}

TEST(Account, SaysThatItIsNotTheNetwork) {
  const record::Run run = simulated(ring("", "compute_time = \"2s\"\n"));
  EXPECT_EQ(run.verdict->cause, "compute");
  EXPECT_THAT(run.verdict->text, HasSubstr("Not the network"));
}

TEST(Account, TellsJobsApart) {
  const record::Run run = simulated(
      "[network]\nhosts = 4\nrate = \"400Mbit\"\ntopology = \"dumbbell\"\ncore_rate = \"400Mbit\"\n"
      "[[job]]\nname = \"a\"\nparameters = \"2MB\"\nsteps = 4\nhosts = [\"host0\", \"host2\"]\n"
      "compute_time = \"1ms\"\n"
      "[[job]]\nname = \"b\"\nparameters = \"20MB\"\nsteps = 2\nhosts = [\"host1\", \"host3\"]\n"
      "compute_time = \"1ms\"\n");
  ASSERT_EQ(run.jobs.size(), 2U);
  EXPECT_EQ(run.jobs[0].verdict->job, "a");
  EXPECT_GT(record::part_s(*run.jobs[0].accounting, "other_job"), 0.3 * run.jobs[0].step->median_s);
  EXPECT_EQ(run.jobs[0].verdict->where, "b");
}

// As a run would have measured it: the network took a tenth longer than simulated.
TEST(Account, MeetsTheMeasuredStep) {
  const spec::Experiment experiment = parsed(ring("", "compute_time = \"20ms\"\n"));
  record::Run run = sim::described(experiment, sim::simulate(experiment));
  run.command = "run";
  const double network_s = run.jobs[0].step->median_s - 0.02;
  run.jobs[0].step->median_s += 0.1 * network_s;
  add(experiment, run);
  EXPECT_NEAR(sum_of(*run.accounting), run.jobs[0].step->median_s, 1e-9);
  EXPECT_NEAR(record::part_s(*run.accounting, "compute"), 0.02, 1e-3);
  EXPECT_EQ(record::part_s(*run.accounting, "unexplained"), 0);
}

TEST(Account, LeavesUnexplainedWhatItCannotExplain) {
  const spec::Experiment experiment = parsed(ring("", "compute_time = \"20ms\"\n"));
  record::Run run = sim::described(experiment, sim::simulate(experiment));
  run.command = "run";
  const double step_s = run.jobs[0].step->median_s;
  run.jobs[0].step->median_s = 2 * step_s;
  add(experiment, run);
  EXPECT_NEAR(record::part_s(*run.accounting, "unexplained"), step_s - (step_s - 0.02) / 4, 1e-6);
  EXPECT_NEAR(sum_of(*run.accounting), 2 * step_s, 1e-9);
  EXPECT_EQ(run.verdict->cause, "unknown");
  EXPECT_THAT(run.verdict->text, HasSubstr("not explained"));
}

TEST(Account, DoesNotJudgeWhatWasNotMeasuredWell) {
  const spec::Experiment experiment = parsed(ring("", "compute_time = \"20ms\"\n"));
  record::Run run = sim::described(experiment, sim::simulate(experiment));
  run.command = "run";
  run.cpu_bound = true;
  add(experiment, run);
  EXPECT_EQ(run.verdict->cause, "unknown");
  EXPECT_THAT(run.verdict->text, HasSubstr("short of processor time"));
  run.cpu_bound = false;
  run.checks.push_back({.name = "links", .ok = false});
  add(experiment, run);
  EXPECT_THAT(run.verdict->text, HasSubstr("a check failed (links)"));
}

TEST(Account, SaysWhatIsTooLarge) {
  const spec::Experiment experiment =
      parsed("[network]\nhosts = 4096\n[[job]]\nparameters = \"1MB\"\nsteps = 1\n");
  record::Run run;
  run.jobs = {{.step = record::Times{.median_s = 1}}};
  add(experiment, run);
  EXPECT_EQ(run.verdict->cause, "unknown");
  EXPECT_THAT(run.verdict->text, HasSubstr("too large"));
}

// In closed form: a thousand ranks take no longer than four.
TEST(Account, AnswersForLargeRingsToo) {
  const spec::Experiment experiment = parsed(
      "[network]\nhosts = 1024\nrate = \"10Gbit\"\n"
      "[[job]]\nparameters = \"100MB\"\ncompute_time = \"50ms\"\nsteps = 10\n");
  record::Run run;
  run.jobs = {{.step = record::Times{.median_s = 0.25}}};
  add(experiment, run);
  EXPECT_EQ(run.verdict->cause, "bandwidth");
}

TEST(Account, CreditsOverlap) {
  const record::Run run = simulated(
      "[network]\nhosts = 2\nrate = \"10Gbit\"\n[[job]]\nmodel = \"resnet50\"\nsteps = 2\n"
      "compute_time = \"200ms\"\nbucket = \"10MB\"\noverlap = true\n");
  EXPECT_GT(run.accounting->overlap_s, 0.04);
}

}  // namespace
}  // namespace tw::account
