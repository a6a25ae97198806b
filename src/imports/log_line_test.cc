// SPDX-License-Identifier: Apache-2.0
#include "trainwire/imports/log_line.h"

#include <gmock/gmock.h>

namespace tw::imports {
namespace {

using testing::ElementsAre;
using testing::Eq;
using testing::Optional;

std::vector<std::string_view> cells(std::string_view line) {
  std::vector<std::string_view> result;
  EXPECT_TRUE(split_csv(line, result)) << line;
  return result;
}

TEST(CsvLine, FieldsComeWithoutBlanksAndQuotes) {
  EXPECT_THAT(cells("0, 1 ,\"a,b\",\"\""), ElementsAre("0", "1", "a,b", ""));
  EXPECT_THAT(cells("a,"), ElementsAre("a", ""));
  EXPECT_THAT(cells("\"say \"\"x\"\"\",2"), ElementsAre("say \"\"x\"\"", "2"));
}

TEST(CsvLine, AQuoteThatStaysOpenIsRefused) {
  std::vector<std::string_view> result;
  EXPECT_FALSE(split_csv("1,\"abc", result));
  EXPECT_FALSE(split_csv("1,\"abc\"\"", result));
}

TEST(CsvLine, WordsBehindAQuoteAreRefused) {
  std::vector<std::string_view> result;
  EXPECT_FALSE(split_csv("{\"loss\": 0.5, \"step\": 1, \"timestamp\": 7}", result));
  EXPECT_TRUE(split_csv("1, \"a\" , \"b\"", result));
}

TEST(StepNumber, FollowsItsWord) {
  EXPECT_THAT(step_number("Step #12\tLoss: 0.5"), Optional(12));
  EXPECT_THAT(step_number("Iter #7: 250.3 img/sec per GPU"), Optional(7));
  EXPECT_THAT(step_number("global_step=40 lr=0.1"), Optional(40));
  EXPECT_THAT(step_number("epoch=0/micro_step=80/global_step=20, rate"), Optional(20));
  EXPECT_THAT(step_number("Epoch 3, Batch [5/100]"), Optional(5));
  EXPECT_THAT(step_number("batch 64, iteration: 9"), Optional(9));
}

TEST(StepNumber, IsNoSizeFractionOrRate) {
  for (const char* line : {"batch size 32", "batch_size=32", "step 0.35 s", "step 35ms",
                           "img/iter 12", "steps: 100", "footstep 3", "step", "batch 50%"}) {
    EXPECT_THAT(step_number(line), Eq(std::nullopt)) << line;
  }
}

TEST(SampledStep, StandsBeforeItsRate) {
  EXPECT_THAT(sampled_step("[INFO 2020-06-08 05:26:19] 0/2650, SamplesPerSec=13.1"),
              Optional(2650));
  EXPECT_THAT(sampled_step("0/17, RunningAvgSamplesPerSec=8.3, CurrSamplesPerSec=9"), Optional(17));
  EXPECT_THAT(sampled_step("2020/06/08 SamplesPerSec=13.1"), Eq(std::nullopt));
  EXPECT_THAT(sampled_step("0/17, loss=13.1"), Eq(std::nullopt));
}

TEST(StepOfEpoch, StandsInTheSecondBrackets) {
  EXPECT_THAT(step_of_epoch("[2024-05-01 10:00:00,100] Epoch: [1/90][ 20/400] Batch 0.8 (3.9)"),
              Optional(20));
  EXPECT_THAT(step_of_epoch("Epoch: [3][40/1000] time: 0.1"), Eq(std::nullopt));
  EXPECT_THAT(step_of_epoch("Epoch: [3/90][40"), Eq(std::nullopt));
  EXPECT_THAT(step_of_epoch("Epoch: [3/90] Data 0.1"), Eq(std::nullopt));
  EXPECT_THAT(step_of_epoch("[1/90][20/400] Batch 0.8"), Eq(std::nullopt));
}

TEST(RankNumber, IsNamedOrPutBeforeByTheLauncher) {
  EXPECT_THAT(rank_number("rank 3 step 1"), Optional(3));
  EXPECT_THAT(rank_number("[rank2]: step 1"), Optional(2));
  EXPECT_THAT(rank_number("[1,5]<stdout>:step 1"), Optional(5));
  EXPECT_THAT(rank_number("[4]<stdout>:step 1"), Optional(4));
  EXPECT_THAT(rank_number("step 1"), Eq(std::nullopt));
}

TEST(Excerpt, IsShortAndHarmless) {
  EXPECT_EQ(excerpt("a\x1b[31m"), "a?[31m");
  EXPECT_EQ(excerpt(std::string(50, 'x')), std::string(40, 'x') + "...");
}

}  // namespace
}  // namespace tw::imports
