// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/volume.h"

#include <gmock/gmock.h>

namespace tw::workload {
namespace {

using testing::ElementsAre;

/// 900 elements in one bucket, 4 steps after 1 of warm-up.
Training training(const std::string& strategy, int ranks) {
  Training training;
  training.strategy = strategy;
  training.arrangement.layout = collective::evenly(ranks, ranks);
  training.buckets = {{.elements = 900}};
  training.steps = 4;
  training.warmup = 1;
  return training;
}

TEST(BytesByRank, OfARingAreTheFormulaTimesTheSteps) {
  // 3 ranks: 2(3-1)/3 of 3600 bytes in each of 5 steps, and no broadcast.
  Training job = training("ring", 3);
  job.broadcast = false;
  EXPECT_THAT(bytes_by_rank(job), ElementsAre(ElementsAre(0, 24'000, 0), ElementsAre(0, 0, 24'000),
                                              ElementsAre(24'000, 0, 0)));
}

TEST(BytesByRank, OfServersHoldTheFirstModelOnceMore) {
  // A worker pushes 3600 bytes in each of 5 steps, and gets them back 5 times and once before.
  EXPECT_THAT(bytes_by_rank(training("ps", 2)),
              ElementsAre(ElementsAre(0, 5 * 3600), ElementsAre(6 * 3600, 0)));
}

TEST(BytesByRank, OfDrawnPeersAreOnePayloadARankAndStep) {
  std::int64_t all = 0;
  for (const auto& row : bytes_by_rank(training("pair_averaging", 4))) {
    for (const std::int64_t bytes : row) all += bytes;
  }
  EXPECT_EQ(all, 5 * 4 * 3600);
}

TEST(StartBytes, AreOnePayloadForEachRankThatLacksIt) {
  EXPECT_EQ(start_bytes(training("ring", 4)), Bytes(3 * 3600));
  EXPECT_EQ(start_bytes(training("ps", 4)), Bytes(3 * 3600));
  EXPECT_EQ(start_bytes(training("pair_averaging", 4)), Bytes(0));
}

TEST(StartBytes, LeaveOutWhatStaysOnAHost) {
  // Of three edges of the binomial tree over ranks 0 1 | 2 3 only 0-2 crosses.
  Training job = training("ring", 4);
  job.arrangement.layout = collective::evenly(4, 2);
  EXPECT_EQ(start_bytes(job), Bytes(3600));
}

TEST(Demand, IsWhatTheBusiestRankSends) {
  EXPECT_EQ(demand(training("ring", 3)), Bytes(4800));
  EXPECT_EQ(demand(training("star", 3)), Bytes(7200));
}

}  // namespace
}  // namespace tw::workload
