// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/histogram.h"

#include <gmock/gmock.h>

#include <numeric>
#include <stdexcept>
#include <vector>

namespace tw::stats {
namespace {

using testing::ElementsAre;

TEST(Histogram, CountsTheLargestValueInTheLastBin) {
  // 0..4 in two bins of width 2: [0, 2) holds 0 and 1, [2, 4] holds 2, 3 and 4.
  const Histogram found = histogram(std::vector<double>{0, 1, 2, 3, 4}, {.bins = 2});
  EXPECT_THAT(found.counts, ElementsAre(2, 3));
  EXPECT_DOUBLE_EQ(found.width, 2);
  EXPECT_DOUBLE_EQ(found.centre(1), 3);
}

TEST(Histogram, ChoosesBinsAsFreedmanAndDiaconis) {
  // 0..999: quartiles 249.75 and 749.25, width 2 * 499.5 / 10 = 99.9, 999 / 99.9 = 10 bins.
  std::vector<double> values(1000);
  std::iota(values.begin(), values.end(), 0);
  EXPECT_EQ(histogram(values).counts.size(), 10u);
}

TEST(Histogram, BoundsItsBinsWhateverTheOutlier) {
  std::vector<double> values(1000);
  std::iota(values.begin(), values.end(), 0);
  values.push_back(1e12);
  EXPECT_EQ(histogram(values).counts.size(), kMostBins);
}

TEST(Histogram, FallsBackToSturgesWhenTheMiddleHalfIsOneValue) {
  // 7 of 8 values are 1: interquartile range 0, log2(8) + 1 = 4 bins.
  EXPECT_EQ(histogram(std::vector<double>{1, 1, 1, 1, 1, 1, 1, 9}).counts.size(), 4u);
}

TEST(Histogram, OfEqualValuesIsOneBin) {
  const Histogram found = histogram(std::vector<double>(5, 2.5));
  EXPECT_THAT(found.counts, ElementsAre(5));
  EXPECT_DOUBLE_EQ(found.centre(0), 2.5);
}

TEST(Histogram, LosesNoValue) {
  // In [2, 4]: 2, 3, 4; outside: 1 below, 5 and 6 above.
  const Histogram found =
      histogram(std::vector<double>{1, 2, 3, 4, 5, 6}, {.bins = 2, .low = 2, .high = 4});
  EXPECT_THAT(found.counts, ElementsAre(1, 2));
  EXPECT_EQ(found.below, 1u);
  EXPECT_EQ(found.above, 2u);
}

TEST(Histogram, NormalisedHasAHighestPeakOfOne) {
  const Histogram found = histogram(std::vector<double>{0, 1, 2, 3, 4, 4}, {.bins = 2});
  EXPECT_THAT(peak_normalised(found), ElementsAre(0.5, 1));
}

TEST(Histogram, RefusesNoValuesAndNoBins) {
  EXPECT_THROW(histogram({}), std::logic_error);
  EXPECT_THROW(histogram(std::vector<double>{1, 2}, {.bins = 0}), std::logic_error);
}

}  // namespace
}  // namespace tw::stats
