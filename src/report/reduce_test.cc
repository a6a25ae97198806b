// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/reduce.h"

#include <gmock/gmock.h>

#include <algorithm>
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

TEST(Thinned, KeepsTheExtremesThatATitleNames) {
  // One peak and one dip among a thousand: whichever way they are taken together.
  std::vector<double> values(1000, 5);
  values[617] = 66;
  values[618] = 1;
  for (const std::size_t count : {1, 2, 7, 64, 999, 1000}) {
    const auto document = thinned(values, count);
    const auto of = [&](const char* key) {
      return document.value(key, document["mean"]).get<std::vector<double>>();
    };
    const std::vector<double> high = of("max"), low = of("min");
    EXPECT_EQ(*std::max_element(high.begin(), high.end()), 66) << count;
    EXPECT_EQ(*std::min_element(low.begin(), low.end()), 1) << count;
  }
}

TEST(TimeBuckets, KeepTheLargestOfAll) {
  TimeBuckets buckets({0, 999}, 10);
  for (int i = 0; i < 1000; ++i) buckets.add(i, i == 617 ? 66 : 5);
  EXPECT_EQ(*std::max_element(buckets.largest().begin(), buckets.largest().end()), 66);
}

TEST(Thinned, LeavesAShortSeriesAsItIs) {
  const auto document = thinned({1, 2}, 2);
  EXPECT_EQ(document["per"], 1);
  EXPECT_FALSE(document.contains("min"));
}

}  // namespace
}  // namespace tw::report
