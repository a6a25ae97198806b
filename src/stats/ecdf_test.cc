// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/ecdf.h"

#include "trainwire/base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace tw::stats {
namespace {

TEST(Ecdf, RisesAtEachDifferentValueByItsShare) {
  // 1 once, 2 twice, 5 once of four.
  const Ecdf found = ecdf(std::vector<double>{2, 5, 1, 2});
  ASSERT_EQ(found.points.size(), 3u);
  EXPECT_DOUBLE_EQ(found.points[0].share, 0.25);
  EXPECT_DOUBLE_EQ(found.points[1].share, 0.75);
  EXPECT_DOUBLE_EQ(found.points[2].share, 1);
  EXPECT_DOUBLE_EQ(found.points[1].value, 2);
}

TEST(Ecdf, HasTheBandOfDvoretzkyKieferAndWolfowitz) {
  // 200 values, 95 %: sqrt(ln 40 / 400) = 0.0960323; the hundredth stands at 0.5.
  std::vector<double> values;
  for (int i = 1; i <= 200; ++i) values.push_back(i);
  const Ecdf found = ecdf(values);
  EXPECT_NEAR(found.points[99].low, 0.5 - 0.0960323, 1e-7);
  EXPECT_NEAR(found.points[99].high, 0.5 + 0.0960323, 1e-7);
  EXPECT_DOUBLE_EQ(found.points[0].low, 0);
  EXPECT_DOUBLE_EQ(found.points[199].high, 1);
}

// The true curve of uniform values is share = x. Just before a point the curve is as high as at the
// point before, so both sides are looked at. Asked: at least 95 % less three deviations of 300
// trials, 0.95 - 3 * sqrt(0.95 * 0.05 / 300) = 0.912, which is 273.6.
TEST(Ecdf, HoldsTheWholeTrueCurveAsOftenAsItSays) {
  Random random(3, "ecdf");
  int held = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<double> values;
    for (int i = 0; i < 100; ++i) values.push_back(random.uniform());
    const double reach = std::sqrt(std::log(40.0) / 200);
    bool inside = true;
    double before = 0;
    for (const EcdfPoint& point : ecdf(values).points) {
      inside = inside && point.value - before <= reach && point.share - point.value <= reach;
      before = point.share;
    }
    held += inside ? 1 : 0;
  }
  EXPECT_GE(held, 274);
}

TEST(Ecdf, RefusesAnEmptySample) { EXPECT_THROW(ecdf({}), std::logic_error); }

}  // namespace
}  // namespace tw::stats
