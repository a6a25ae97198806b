// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/bootstrap.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <vector>

namespace tw::stats {
namespace {

TEST(Resample, KeepsNeighboursOfABlockTogether) {
  std::vector<double> values(40);
  std::iota(values.begin(), values.end(), 0);
  Random random(1, "test");
  const std::vector<double> sample = resample(values, 8, random);
  ASSERT_EQ(sample.size(), 40u);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    if (i % 8 == 0) continue;
    EXPECT_DOUBLE_EQ(sample[i], sample[i - 1] + 1) << i;
  }
}

TEST(Resample, RefusesABlockLongerThanTheSeries) {
  Random random(1, "test");
  EXPECT_THROW(resample(std::vector<double>{1, 2}, 3, random), std::logic_error);
}

TEST(LagOneCorrelation, IsThatOfNeighbours) {
  // Mean 0, squares 4, products of neighbours -3.
  EXPECT_DOUBLE_EQ(lag_one_correlation(std::vector<double>{1, -1, 1, -1}), -0.75);
  EXPECT_DOUBLE_EQ(lag_one_correlation(std::vector<double>{2, 2, 2}), 0);
}

TEST(BlockLength, IsTheCubeRootForIndependentValues) {
  // 1000 values that alternate: no positive correlation, 1000^(1/3) = 10.
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(i % 2);
  EXPECT_EQ(block_length(values), 10u);
}

TEST(BlockLength, GrowsWithTheCorrelationOfNeighbours) {
  // A first-order autoregression of 0.8: (2 * 0.8 / 0.36)^2 = 19.75, 1.1447 * (19.75 * 1000)^(1/3)
  // = 30.9. The correlation is estimated from 1000 values, within about 0.02 of 0.8: (2 * 0.76 /
  // 0.4224)^2 = 12.9 gives 26.9, (2 * 0.84 / 0.2944)^2 = 32.6 gives 36.6.
  Random random(5, "test");
  std::vector<double> values{0};
  for (int i = 1; i < 1000; ++i) values.push_back(0.8 * values.back() + random.normal());
  EXPECT_GE(block_length(values), 26u);
  EXPECT_LE(block_length(values), 37u);
}

TEST(BlockLength, LeavesAtLeastFiveBlocks) {
  std::vector<double> values(10);
  std::iota(values.begin(), values.end(), 0);
  EXPECT_EQ(block_length(values), 2u);
  EXPECT_EQ(block_length(std::vector<double>{1, 2, 3}), 1u);
}

}  // namespace
}  // namespace tw::stats
