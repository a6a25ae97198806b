// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/spare.h"

#include <gmock/gmock.h>

namespace tw::stats {
namespace {

TEST(Spare, GivesThePrintedExample) {
  // Salamy 2022, equation 3.4 and table 3.3: 2011 MB / 5.257 s = 3.06 Gbit/s; 4.54 Gbit/s were
  // left at 20.46; 1.48 Gbit/s spare.
  const LoadedStep step{.load = BitRate(20.46e9), .step_s = 5.257};
  const auto points = spare_points({&step, 1}, {.demand = 2011_MB, .capacity = 25_Gbit});
  ASSERT_EQ(points.size(), 1u);
  EXPECT_NEAR(points[0].ideal.bits_per_second(), 3.06e9, 0.005e9);
  EXPECT_NEAR(points[0].available.bits_per_second(), 4.54e9, 1);
  EXPECT_NEAR(points[0].spare.bits_per_second(), 1.48e9, 0.005e9);
  EXPECT_NEAR(points[0].share, 1.48 / 4.54, 0.002);
}

TEST(Spare, GivesThePrintedShares) {
  // Table 3.5, BERT-large: 1.06 of 3.18 Gbit/s, so 67 % spare. 1787.6 MB at 1.06 Gbit/s: 13.49 s.
  const LoadedStep step{.load = BitRate(21.82e9), .step_s = 8 * 1787.6e6 / 1.06e9};
  const auto points = spare_points({&step, 1}, {.demand = Bytes(1787600000), .capacity = 25_Gbit});
  EXPECT_NEAR(points[0].spare.bits_per_second(), 2.12e9, 1e6);
  EXPECT_NEAR(points[0].share, 0.67, 0.005);
}

TEST(Spare, AveragesOnlyPastTheCongestionPoint) {
  // 1 Gbit a step over 10 Gbit/s. Spare at 4: 6 - 1/1 = 5, not saturated. At 8: 2 - 1 = 1; at 9:
  // 1 - 0.5 = 0.5. Mean 0.75, deviation 0.354; Student's 12.706 * 0.354 / sqrt(2) = 3.18.
  const std::vector<LoadedStep> steps{{4_Gbit, 1}, {8_Gbit, 1}, {9_Gbit, 2}};
  const auto points = spare_points(steps, {.demand = 125_MB, .capacity = 10_Gbit});
  const auto mean = mean_spare_bps(points, 7_Gbit);
  ASSERT_TRUE(mean);
  EXPECT_NEAR(mean->value, 0.75e9, 1);
  EXPECT_NEAR(mean->high - mean->value, 3.18e9, 0.01e9);
  EXPECT_EQ(mean->n, 2u);
}

TEST(Spare, HasNoMeanWithoutSaturatedPointsAndNoWidthForOne) {
  const std::vector<LoadedStep> steps{{4_Gbit, 1}, {8_Gbit, 1}};
  const auto points = spare_points(steps, {.demand = 125_MB, .capacity = 10_Gbit});
  EXPECT_FALSE(mean_spare_bps(points, 9_Gbit));
  const auto one = mean_spare_bps(points, 8_Gbit);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->low, one->high);
}

}  // namespace
}  // namespace tw::stats
