// SPDX-License-Identifier: Apache-2.0
#include "trainwire/load/time_histogram.h"

#include <gmock/gmock.h>

namespace tw::load {
namespace {

using namespace std::chrono_literals;

TEST(TimeHistogram, QuantilesAreWithinACell) {
  // 1 to 10,000 us: the median is 5 ms, the 99th percentile 9.9 ms; cells are 1/32 wide.
  TimeHistogram times;
  for (int us = 1; us <= 10'000; ++us) times.add(us * 1us);
  EXPECT_NEAR(times.quantile(0.5), 5e-3, 5e-3 / 60);
  EXPECT_NEAR(times.quantile(0.99), 9.9e-3, 9.9e-3 / 60);
  EXPECT_NEAR(times.mean(), 5.0005e-3, 1e-9);
}

TEST(TimeHistogram, HoldsEveryTime) {
  TimeHistogram times;
  times.add(-5ns);
  times.add(63ns);
  times.add(Duration::max());
  EXPECT_EQ(times.quantile(0), 0);
  EXPECT_DOUBLE_EQ(times.quantile(0.5), 63e-9);
  EXPECT_NEAR(times.quantile(1), 9.22e9, 9.22e9 / 60);
}

TEST(TimeHistogram, AddsUp) {
  TimeHistogram a;
  TimeHistogram b;
  a.add(10us);
  b.add(30us);
  a.add(b);
  EXPECT_EQ(a.count(), 2);
  EXPECT_NEAR(a.mean(), 20e-6, 1e-12);
  EXPECT_EQ(TimeHistogram().quantile(0.5), 0);
}

}  // namespace
}  // namespace tw::load
