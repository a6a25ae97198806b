// SPDX-License-Identifier: Apache-2.0
#include "trainwire/terminal/chart.h"

#include <gmock/gmock.h>

#include <cmath>

namespace tw::terminal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(FitChart, DrawsAnExponentialAsALine) {
  // y = 10^x over x = 0..2 on three rows and five columns: a row is a factor of 10, two columns an
  // x of 1. Between them the curve lies in the middle of two rows and goes to the lower.
  const std::vector<ChartPoint> points{{0, 1}, {1, 10}, {2, 100}};
  const auto curve = [](double x) { return std::pow(10.0, x) * 0.99; };
  EXPECT_THAT(chart(points, curve, {.width = 5, .height = 3}),
              ElementsAre("      100 |    o",  //
                          "          |  o.",   //
                          "        1 |o.",     //
                          "          +-----",  //
                          "           0   2"));
}

TEST(FitChart, LeavesOutWhatLiesOutsideTheFrame) {
  const std::vector<ChartPoint> points{{0, 1}, {1, 2}};
  const auto lines = chart(points, [](double) { return 1e9; }, {.width = 4, .height = 2});
  EXPECT_THAT(lines[0], testing::Not(testing::HasSubstr(".")));
}

TEST(FitChart, DrawsNothingWithoutAWidthOrALogarithm) {
  const auto flat = [](double) { return 1.0; };
  EXPECT_THAT(chart({}, flat), IsEmpty());
  EXPECT_THAT(chart(std::vector<ChartPoint>{{1, 1}, {1, 2}}, flat), IsEmpty());
  EXPECT_THAT(chart(std::vector<ChartPoint>{{1, 1}, {2, 0}}, flat), IsEmpty());
}

TEST(FitChart, DrawsEqualTimesInTheMiddle) {
  const std::vector<ChartPoint> points{{0, 1}, {1, 1}};
  const auto lines = chart(points, [](double) { return 1.0; }, {.width = 4, .height = 3});
  EXPECT_THAT(lines[1], testing::EndsWith("|o..o"));
}

}  // namespace
}  // namespace tw::terminal
