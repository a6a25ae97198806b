// SPDX-License-Identifier: Apache-2.0
#include "trainwire/load/distribution.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

namespace tw::load {
namespace {

using testing::HasSubstr;

std::string problem(const std::string& text) {
  try {
    SizeDistribution::parse(text, "sizes.txt");
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

TEST(SizeDistribution, MeanIsThatOfStraightLinesBetweenRows) {
  // A quarter at exactly 100; half evenly in 100..300 (mean 200); a quarter in 300..700 (mean 500).
  const auto sizes = SizeDistribution::parse("100 0.25\n300,0.75\n700\t1 # all\n", "x");
  EXPECT_DOUBLE_EQ(sizes.mean(), 0.25 * 100 + 0.5 * 200 + 0.25 * 500);
  EXPECT_DOUBLE_EQ(sizes.scaled(0.5).mean(), sizes.mean() / 2);
}

TEST(SizeDistribution, QuantilesInvertTheTable) {
  const auto sizes = SizeDistribution::parse("100 0.25\n300 0.75\n700 1\n", "x");
  EXPECT_DOUBLE_EQ(sizes.quantile(0), 100);
  EXPECT_DOUBLE_EQ(sizes.quantile(0.25), 100);
  EXPECT_DOUBLE_EQ(sizes.quantile(0.5), 200);
  EXPECT_DOUBLE_EQ(sizes.quantile(1), 700);
  EXPECT_THROW(sizes.quantile(1.5), std::logic_error);
  EXPECT_THROW(sizes.scaled(0), std::logic_error);
}

TEST(SizeDistribution, WebSearchHasThePublishedMeanNotTheOneOfTheThesis) {
  // 0.15*5 + 0.05*15 + 0.1*25 + 0.1*40 + 0.13*65 + 0.07*140 + 0.1*600 + 0.1*1500 + 0.1*3500
  // + 0.07*7500 + 0.03*20000 kB = 1711.25 kB.
  EXPECT_NEAR(distribution_named("websearch").mean(), 1711250, 1e-3);
  EXPECT_EQ(distribution_named("websearch").largest(), 30e6);
}

TEST(SizeDistribution, DataMiningIsHalfSinglePackets) {
  // (0.5*1 + 0.1*(1.5 + 2.5 + 5 + 137) + 0.05*1187 + 0.04*34387 + 0.01*366667) packets of 1460.
  const double packets = 0.5 + 14.6 + 59.35 + 1375.48 + 3666.67;
  EXPECT_NEAR(distribution_named("datamining").mean(), 1460 * packets, 1);
  EXPECT_EQ(distribution_named("datamining").quantile(0.49), 1460);
}

TEST(SizeDistribution, DrawsHaveTheMeanAndDependOnTheSeedOnly) {
  const SizeDistribution sizes = distribution_named("websearch");
  Random random(7, "sizes");
  Random again(7, "sizes");
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double size = sizes.draw(random);
    ASSERT_EQ(size, sizes.draw(again));
    sum += size;
  }
  // Standard deviation 4.0 MB over sqrt(100,000): 12.6 kB, 0.7 % of the mean; four of them.
  EXPECT_NEAR(sum / 100'000, sizes.mean(), 4 * 12'600);
}

TEST(SizeDistribution, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(problem("# sizes\n10 0\n5 1\n"),
            "sizes.txt:3: the size falls from 10 to 5; sort the rows by size");
  EXPECT_THAT(problem("0 0.5\n5 0.4\n6 1"), HasSubstr("sizes.txt:2: the share falls from 0.5"));
  EXPECT_THAT(problem("0 0\n5 0.9\n"), HasSubstr("sizes.txt:2: the last share is 0.9, not 1"));
  EXPECT_THAT(problem("0 0\n5 100\n"), HasSubstr("divide percents by 100"));
  EXPECT_THAT(problem("5 1\n"), HasSubstr("1 rows; a distribution needs two"));
  EXPECT_THAT(problem(""), HasSubstr("0 rows"));
  EXPECT_THAT(problem("0 0\n5\n"), HasSubstr("sizes.txt:2: a row has two numbers"));
  EXPECT_THAT(problem("0 0\n5 1 1\n"), HasSubstr("a row has two numbers"));
  EXPECT_THAT(problem("0 0\nbig 1\n"), HasSubstr("\"big\" is no size in bytes"));
  EXPECT_THAT(problem("0 0\n5 nan\n"), HasSubstr("\"nan\" is no share"));
  EXPECT_THAT(problem("-1 0\n5 1\n"), HasSubstr("-1 bytes is no size"));
  EXPECT_THAT(problem("0 -0.5\n5 1\n"), HasSubstr("below 0"));
  EXPECT_THAT(problem("0 0\n0 1\n"), HasSubstr("all flows are empty"));
}

TEST(DistributionNamed, TakesATablesTextAndFindsTheNearestName) {
  EXPECT_EQ(distribution_named("0 0\n10 1\n").mean(), 5);
  try {
    distribution_named("web-search");
    FAIL() << "there is no such file";
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean \"websearch\"?"));
  }
  EXPECT_THROW(distribution_named("/"), SystemError);
}

}  // namespace
}  // namespace tw::load
