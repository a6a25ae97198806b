// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/drops.h"

#include "trainwire/account/test_experiments.h"

#include <gtest/gtest.h>

namespace tw::account {
namespace {

/// All send to one at a time, which has a queue of that many bytes.
spec::Experiment star(const std::string& network) {
  return parsed("[network]\nhosts = 5\nrate = \"200Mbit\"\ndelay = \"200us\"\n" + network +
                "allow_shallow_queue = true\n[[job]]\nstrategy = \"star\"\nparameters = \"200kB\"\n"
                "compute_time = \"10ms\"\nsteps = 3\nwarmup = 1\n");
}

double by_packets_s(Trials& trials) {
  return trials.of(trials.experiment(), 0, Manner::Packets)->step_s;
}

TEST(Drops, CostWhatDeepQueuesSave) {
  Trials trials(star("queue = \"15KB\"\n"), 2);
  const double step_s = by_packets_s(trials);
  const auto lost = lost_to_queues_s(trials, 0, step_s);
  ASSERT_TRUE(lost);
  Trials deep(star("queue = \"4MiB\"\n"), 2);
  EXPECT_NEAR(*lost, step_s - by_packets_s(deep), 1e-9);
  EXPECT_GT(*lost, 0.1 * step_s);
}

TEST(Drops, CostNothingWhereQueuesAreDeep) {
  Trials trials(star("queue = \"4MiB\"\n"), 2);
  EXPECT_EQ(lost_to_queues_s(trials, 0, by_packets_s(trials)), 0);
}

// A step that packets do not take either is slow for another reason.
TEST(Drops, AreNotKnownOfAnotherStep) {
  Trials trials(star("queue = \"15KB\"\n"), 2);
  EXPECT_FALSE(lost_to_queues_s(trials, 0, 2 * by_packets_s(trials)));
}

TEST(Drops, AreNotKnownBesideOtherLosses) {
  Trials trials(star("queue = \"15KB\"\nloss = 0.01\n"), 2);
  EXPECT_FALSE(lost_to_queues_s(trials, 0, by_packets_s(trials)));
}

}  // namespace
}  // namespace tw::account
