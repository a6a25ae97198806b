// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/script.h"

#include <gmock/gmock.h>

namespace tw::workload {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Training training(const std::string& strategy) {
  Training training;
  training.strategy = strategy;
  training.arrangement.layout = collective::evenly(3, 3);
  training.buckets = {{.elements = 5}, {.elements = 3}};
  training.steps = 4;
  training.warmup = 1;
  return training;
}

std::vector<std::string> texts(const Training& job, int rank) {
  std::vector<std::string> all;
  for (const Act& act : step_script(job, rank)) all.push_back(text_of(act));
  return all;
}

TEST(Script, ComputesAgreesExchangesAndUpdates) {
  EXPECT_THAT(
      texts(training("ring"), 0),
      ElementsAre("compute until forward's end", "agree", "compute until bucket 0 is filled",
                  "compute until bucket 1 is filled", "begin bucket 0", "await bucket 0",
                  "begin bucket 1", "await bucket 1", "update"));
}

TEST(Script, BeginsABucketAsSoonAsItIsFilledWhenItOverlaps) {
  Training job = training("ring");
  job.overlap = true;
  EXPECT_THAT(texts(job, 0), ElementsAre("compute until forward's end", "agree",
                                         "compute until bucket 0 is filled", "begin bucket 0",
                                         "compute until bucket 1 is filled", "begin bucket 1",
                                         "await all that was begun", "update"));
}

// The last bucket has the first layers.
TEST(Script, NeedsBucketsOfTheStepBeforeWhenForwardOverlaps) {
  Training job = training("ps");
  job.forward_overlap = true;
  EXPECT_THAT(
      texts(job, 0),
      ElementsAre("await bucket 1 of the step before", "compute until forward's end of bucket 1",
                  "await bucket 0 of the step before", "compute until forward's end of bucket 0",
                  "agree", "compute until bucket 0 is filled", "compute until bucket 1 is filled",
                  "begin bucket 1", "begin bucket 0", "update"));
  EXPECT_THAT(texts(job, 2),
              ElementsAre("agree", "begin bucket 1", "begin bucket 0", "await all that was begun"));
}

TEST(Script, OfAServerOnlyExchanges) {
  EXPECT_THAT(texts(training("ps"), 2), ElementsAre("agree", "begin bucket 0", "await bucket 0",
                                                    "begin bucket 1", "await bucket 1"));
}

TEST(Script, OfAnAsynchronousServerIsDoneOnceForAllSteps) {
  Training job = training("ps");
  job.arrangement.asynchronous = true;
  EXPECT_THAT(texts(job, 2), ElementsAre("serve every worker"));
  EXPECT_EQ(script_repeats(job, 2), 1);
  EXPECT_EQ(script_repeats(job, 0), 5);
  // Its workers go their own pace: they agree on nothing.
  EXPECT_EQ(texts(job, 0)[1], "compute until bucket 0 is filled");
}

TEST(Script, OfDrawnPeersPullsAfterComputing) {
  EXPECT_THAT(texts(training("pair_averaging"), 1),
              ElementsAre("compute until backward's end", "pull from a peer and average"));
}

TEST(Script, OfAnEmptyModelStillComputes) {
  Training job = training("ring");
  job.buckets = {};
  EXPECT_THAT(texts(job, 0), ElementsAre("compute until forward's end", "agree",
                                         "compute until backward's end", "update"));
}

TEST(Script, KeepsThePhasesOfAStepTogether) {
  for (const std::string strategy : {"ring", "ps"}) {
    for (const bool overlap : {false, true}) {
      Training job = training(strategy);
      job.overlap = overlap;
      Phase last = Phase::None;
      for (const Act& act : step_script(job, 0)) {
        if (act.phase == Phase::None) continue;
        EXPECT_GE(act.phase, last);
        last = act.phase;
      }
    }
  }
}

TEST(SidePeers, AreTheFirstRankAndItsSecond) {
  Training job = training("ring");
  EXPECT_THAT(side_peers(job, 0), IsEmpty());
  job.side_connections = 2;
  EXPECT_THAT(side_peers(job, 0), ElementsAre(1, 1, 2, 2, 1, 1));
  EXPECT_THAT(side_peers(job, 1), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(side_peers(job, 2), ElementsAre(0, 0));
}

}  // namespace
}  // namespace tw::workload
