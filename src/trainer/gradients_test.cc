// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/gradients.h"

#include <gtest/gtest.h>

#include <vector>

namespace tw::trainer {
namespace {

std::vector<float> gradients(int rank, std::int64_t step, std::size_t count = 1000) {
  std::vector<float> values(count);
  fill(values, 5, rank, step);
  return values;
}

std::vector<float> sum_of(const std::vector<int>& ranks, std::int64_t step) {
  std::vector<float> sum(1000);
  for (const int rank : ranks) {
    const std::vector<float> one = gradients(rank, step);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += one[i];
  }
  return sum;
}

TEST(Gradients, AddUpToWhatIsExpected) {
  EXPECT_EQ(wrong_sums(sum_of({0, 1, 2, 3, 4}, 3), 5, 5, 3), 0);
  EXPECT_EQ(wrong_sums(sum_of({0, 1, 2, 3, 4}, -3), 5, 5, -3), 0);
  EXPECT_EQ(wrong_sums(sum_of({}, 3), 5, 0, 3), 0);
}

TEST(Gradients, ShowARankThatIsMissingOrTwice) {
  EXPECT_GT(wrong_sums(sum_of({0, 1, 2, 4}, 3), 5, 5, 3), 990);
  EXPECT_GT(wrong_sums(sum_of({0, 1, 2, 2, 4}, 3), 5, 5, 3), 990);
}

TEST(Gradients, ShowAnotherStepAndAnotherPlace) {
  EXPECT_GT(wrong_sums(sum_of({0, 1}, 4), 5, 2, 3), 900);
  EXPECT_GT(wrong_sums(sum_of({0, 1}, 3), 6, 2, 3), 900);
}

TEST(Gradients, ShowOneWrongElement) {
  std::vector<float> sum = sum_of({0, 1}, 3);
  sum[17] += 1;
  EXPECT_EQ(wrong_sums(sum, 5, 2, 3), 1);
}

TEST(Gradients, OfSeveralStepsAddUpToo) {
  std::vector<float> total(1000);
  for (std::int64_t step = -1; step < 3; ++step) {
    const std::vector<float> one = sum_of({0, 1, 2}, step);
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += one[i];
  }
  EXPECT_EQ(wrong_totals(total, 5, 3, -1, 3), 0);
  EXPECT_GT(wrong_totals(total, 5, 3, 0, 3), 990);
}

TEST(Gradients, OfOneRankAreKnownAgain) {
  EXPECT_EQ(wrong_copies(gradients(2, 0), 5, 2, 0), 0);
  EXPECT_GT(wrong_copies(gradients(2, 0), 5, 1, 0), 990);
}

TEST(Gradients, AveragesLieBetweenTheRanks) {
  std::vector<float> mean = gradients(0, 0);
  const std::vector<float> other = gradients(3, 0);
  for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = 0.5f * (mean[i] + other[i]);
  EXPECT_EQ(wrong_averages(mean, 5, 4, 0), 0);
  mean[3] = -1;
  EXPECT_EQ(wrong_averages(mean, 5, 4, 0), 1);
}

}  // namespace
}  // namespace tw::trainer
