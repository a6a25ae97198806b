// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/reduce.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

namespace tw::report {
namespace {

using testing::ElementsAre;

TEST(TimeBuckets, HoldsMeanLargestAndLastOfEach) {
  // 0..10 in two buckets: 1 and 3 at times below 5, 8 at 10.
  TimeBuckets buckets({0, 10}, 2);
  buckets.add(0, 3);
  buckets.add(4, 1);
  buckets.add(10, 8);
  EXPECT_THAT(buckets.means(), ElementsAre(2, 8));
  EXPECT_THAT(buckets.largest(), ElementsAre(3, 8));
  EXPECT_THAT(buckets.last(), ElementsAre(1, 8));
}

TEST(TimeBuckets, HasNoValueWhereThereWasNoSample) {
  TimeBuckets buckets({0, 10}, 2);
  buckets.add(1, 3);
  EXPECT_TRUE(std::isnan(buckets.means()[1]));
}

TEST(TimeBuckets, TakesASingleMoment) {
  TimeBuckets buckets({7, 7}, 3);
  buckets.add(7, 1);
  EXPECT_EQ(buckets.means()[0], 1);
}

TEST(Distribution, KeepsAShortSampleWhole) {
  const auto document = distribution({3, 1, 2}, 10);
  EXPECT_EQ(document["q"], nlohmann::ordered_json({1.0, 2.0, 3.0}));
  EXPECT_EQ(document["mean"], 2);
}

TEST(Distribution, KeepsALongSampleByItsQuantiles) {
  std::vector<double> values(1001);
  std::iota(values.begin(), values.end(), 0);
  const auto document = distribution(values, 5);
  // 0..1000 at shares 0, 1/4, 1/2, 3/4, 1.
  EXPECT_EQ(document["q"], nlohmann::ordered_json({0.0, 250.0, 500.0, 750.0, 1000.0}));
  EXPECT_EQ(document["n"], 1001);
}

TEST(Distribution, IsNullWithoutFiniteValues) {
  EXPECT_TRUE(distribution({}, 5).is_null());
  EXPECT_TRUE(distribution({std::nan("")}, 5).is_null());
}

TEST(Thinned, TakesNeighboursTogetherWithTheirRange) {
  // Five values in at most two: three and two of them.
  const auto document = thinned({1, 2, 3, 10, 20}, 2);
  EXPECT_EQ(document["per"], 3);
  EXPECT_EQ(document["mean"], nlohmann::ordered_json({2.0, 15.0}));
  EXPECT_EQ(document["min"], nlohmann::ordered_json({1.0, 10.0}));
  EXPECT_EQ(document["max"], nlohmann::ordered_json({3.0, 20.0}));
}

TEST(Thinned, LeavesAShortSeriesAsItIs) {
  const auto document = thinned({1, 2}, 2);
  EXPECT_EQ(document["per"], 1);
  EXPECT_FALSE(document.contains("min"));
}

}  // namespace
}  // namespace tw::report
