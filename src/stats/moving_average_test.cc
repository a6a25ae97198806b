// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/moving_average.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

#include <vector>

namespace tw::stats {
namespace {

using namespace std::chrono_literals;
using testing::DoubleEq;
using testing::ElementsAre;

TEST(MovingAverage, IsCentredAndShrinksAtTheEnds) {
  // Width 5: the ends stand alone, their neighbours have windows of 3, the middle one of 5.
  const std::vector<double> values{0, 3, 6, 0, 6, 3, 0};
  EXPECT_THAT(moving_average(values, 5), ElementsAre(0, 3, 3, 3.6, 3, 3, 0));
}

TEST(MovingAverage, OfWidthOneIsTheSeries) {
  const std::vector<double> values{4, 1, 7};
  EXPECT_THAT(moving_average(values, 1), ElementsAre(4, 1, 7));
}

TEST(MovingAverage, TakesAnEvenWidthForTheNextOddOne) {
  const std::vector<double> values{4, 1, 7, 2, 9, 3};
  EXPECT_EQ(moving_average(values, 2), moving_average(values, 3));
}

TEST(MovingAverage, TakesAWidthBeyondTheSeries) {
  EXPECT_THAT(moving_average(std::vector<double>{1, 2, 6}, 99), ElementsAre(1, 3, 6));
  EXPECT_TRUE(moving_average({}, 3).empty());
}

TEST(MovingAverage, LeavesAStraightLineAlone) {
  std::vector<double> line;
  for (int i = 0; i < 1000; ++i) line.push_back(0.1 * i);
  const std::vector<double> smooth = moving_average(line, 51);
  for (std::size_t i = 0; i < line.size(); ++i) EXPECT_NEAR(smooth[i], line[i], 1e-12);
}

TEST(RatesOverTime, AreBytesOverTime) {
  // 1000 B in 1 ms are 8 Mbit/s; 500 B in the next 2 ms are 2 Mbit/s.
  const std::vector<CounterSample> samples{{0ms, 0_B}, {1ms, 1000_B}, {3ms, 1500_B}};
  const std::vector<RateSample> rates = rates_over_time(samples);
  ASSERT_EQ(rates.size(), 2u);
  EXPECT_DOUBLE_EQ(rates[0].rate.bits_per_second(), 8e6);
  EXPECT_DOUBLE_EQ(rates[1].rate.bits_per_second(), 2e6);
  EXPECT_EQ(rates[1].from, Duration(1ms));
}

TEST(RatesOverTime, WeighUnevenSamplesByTheirTime) {
  // The middle one's window is all: 2000 B in 4 ms, 4 Mbit/s, not the mean of 8, 2 and 4.
  const std::vector<CounterSample> samples{{0ms, 0_B}, {1ms, 1000_B}, {3ms, 1500_B}, {4ms, 2000_B}};
  const std::vector<RateSample> rates = rates_over_time(samples, 3);
  ASSERT_EQ(rates.size(), 3u);
  EXPECT_DOUBLE_EQ(rates[1].rate.bits_per_second(), 4e6);
}

TEST(RatesOverTime, TakesSamplesOfOneTimeForOne) {
  const std::vector<CounterSample> samples{{0ms, 0_B}, {1ms, 500_B}, {1ms, 1000_B}};
  const std::vector<RateSample> rates = rates_over_time(samples);
  ASSERT_EQ(rates.size(), 1u);
  EXPECT_DOUBLE_EQ(rates[0].rate.bits_per_second(), 8e6);
}

TEST(RatesOverTime, RefusesACounterThatRunsBackwards) {
  const std::vector<CounterSample> fewer{{0ms, 5_B}, {1ms, 4_B}};
  const std::vector<CounterSample> earlier{{2ms, 0_B}, {1ms, 4_B}};
  EXPECT_THROW(rates_over_time(fewer), DataError);
  EXPECT_THROW(rates_over_time(earlier), DataError);
}

}  // namespace
}  // namespace tw::stats
