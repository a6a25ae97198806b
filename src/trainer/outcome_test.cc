// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/outcome.h"

#include "trainwire/collective/strategies.h"
#include "trainwire/trainer/gradients.h"

#include <gtest/gtest.h>

#include <vector>

namespace tw::trainer {
namespace {

constexpr std::int64_t kFirst = 100;
constexpr std::int64_t kStep = 3;

/// 10 elements of one rank, from number kFirst on.
std::vector<float> gradients_of(int rank) {
  std::vector<float> elements(10);
  fill(elements, kFirst, rank, kStep);
  return elements;
}

TEST(OutcomeOf, AnAllReduceIsTheSum) {
  const collective::Schedule schedule = collective::ring({.layout = collective::evenly(3, 3)});
  std::vector<float> sum(10);
  for (int rank = 0; rank < 3; ++rank) {
    const std::vector<float> own = gradients_of(rank);
    for (std::size_t i = 0; i < 10; ++i) sum[i] += own[i];
  }
  const Outcome right = outcome_of(schedule, 1, sum, kFirst, kStep);
  EXPECT_EQ(right.checked, 10);
  EXPECT_EQ(right.wrong, 0);
  sum[7] += 1;
  EXPECT_EQ(outcome_of(schedule, 1, sum, kFirst, kStep).wrong, 1);
  EXPECT_EQ(outcome_of(schedule, 1, gradients_of(1), kFirst, kStep).wrong, 10);
}

TEST(OutcomeOf, ABroadcastIsRankZerosPayload) {
  const collective::Schedule schedule = collective::broadcast(collective::evenly(3, 3));
  EXPECT_EQ(outcome_of(schedule, 2, gradients_of(0), kFirst, kStep).wrong, 0);
  EXPECT_EQ(outcome_of(schedule, 2, gradients_of(2), kFirst, kStep).wrong, 10);
}

TEST(OutcomeOf, AnAllToAllIsAPartOfEachRanksPayload) {
  // 10 elements in 3 chunks of 4, 3 and 3; rank 1 holds chunk c of rank c-1.
  const collective::Schedule schedule =
      collective::all_to_all({.layout = collective::evenly(3, 3)});
  std::vector<float> parts = gradients_of(0);  // chunk 1, and what is written over
  const std::vector<float> of_1 = gradients_of(1);
  const std::vector<float> of_2 = gradients_of(2);
  std::copy(of_2.begin(), of_2.begin() + 4, parts.begin());
  std::copy(of_1.begin() + 7, of_1.end(), parts.begin() + 7);
  EXPECT_EQ(outcome_of(schedule, 1, parts, kFirst, kStep).wrong, 0);
  // An exchange that never happened leaves its own part alone right: chunk 2 of 3 elements.
  EXPECT_EQ(outcome_of(schedule, 1, of_1, kFirst, kStep).wrong, 7);
}

TEST(OutcomeOf, AServerIsNotChecked) {
  const collective::Schedule schedule = collective::ps({.layout = collective::evenly(3, 3)});
  EXPECT_EQ(outcome_of(schedule, 2, gradients_of(0), kFirst, kStep).checked, 0);
}

}  // namespace
}  // namespace tw::trainer
