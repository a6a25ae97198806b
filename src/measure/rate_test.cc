// SPDX-License-Identifier: Apache-2.0
#include "trainwire/measure/rate.h"

#include "trainwire/measure/test_link.h"
#include "trainwire/measure/test_tries.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace tw::measure {
namespace {

using namespace std::chrono_literals;

/// `count` frames of 1250 bytes, one every 100 us from `from`: 100 Mbit/s.
std::vector<FrameArrival> steady(int count, Duration from = 0s) {
  std::vector<FrameArrival> arrivals;
  for (int i = 0; i < count; ++i) {
    arrivals.push_back({.time_ns = (from + i * 100us).count(), .frame_bytes = 1250});
  }
  return arrivals;
}

TEST(ArrivalRate, CountsBytesBetweenTheFirstAndTheLastArrivalOfItsWindow) {
  // 1001 arrivals over 100 ms. The 201st, at 20 ms, completes a fifth of the bytes and of the time:
  // 800 follow it in 80 ms.
  const ArrivalRate found = arrival_rate(steady(1001), 0_B);
  EXPECT_DOUBLE_EQ(found.rate.bits_per_second(), 100e6);
  EXPECT_EQ(found.window, 80ms);
}

TEST(ArrivalRate, LeavesOutTheBurstOfATokenBucket) {
  // A burst of 500 kB at the start, 40 % of all: only when it is known the rate is right.
  std::vector<FrameArrival> arrivals = {{.time_ns = 0, .frame_bytes = 500'000}};
  for (const FrameArrival& arrival : steady(600, 100us)) arrivals.push_back(arrival);
  EXPECT_DOUBLE_EQ(arrival_rate(arrivals, 500_KiB).rate.bits_per_second(), 100e6);
  // Unknown, it is still left out by the rule of the first fifth.
  EXPECT_DOUBLE_EQ(arrival_rate(arrivals, 0_B).rate.bits_per_second(), 100e6);
}

TEST(ArrivalRate, OfTooLittleIsNothing) {
  EXPECT_EQ(arrival_rate({}, 0_B).rate, BitRate(0));
  EXPECT_EQ(arrival_rate(steady(1), 0_B).rate, BitRate(0));
  EXPECT_EQ(arrival_rate(steady(10), 1_MB).rate, BitRate(0));
}

TEST(RateDuration, GrowsForSlowLinesAndTheirBursts) {
  EXPECT_EQ(rate_duration(1_Gbit, 0_B), 315ms);
  EXPECT_EQ(rate_duration(100_Mbit, 0_B), 450ms);
  EXPECT_EQ(rate_duration(BitRate(1e5), 0_B), 2s);
  // 125 kB are 1 s of 1 Mbit/s.
  EXPECT_EQ(rate_duration(1_Mbit, 125'000_B), 3s);
}

struct Shaped {
  std::string rate;
  std::string burst;
  std::string limit;
  RateOptions options;
};

/// A token bucket at the sender, as the testbed sets it up.
void expect_rate(const Shaped& shaped) {
  const auto link = test_link();
  if (!link) GTEST_SKIP() << "no namespaces here";
  if (!run_tc(link->a,
              {"tbf", "rate", shaped.rate, "burst", shaped.burst, "limit", shaped.limit})) {
    GTEST_SKIP() << "tc cannot set up a token bucket here";
  }
  expect_carried(nearest_share([&] {
    const MeasuredRate found = measure_rate(link->a4(), link->b4(), shaped.options);
    std::printf("%s: %s over %s, %lu sent, %lu received, %lu overrun\n", shaped.rate.c_str(),
                readable(found.carried).c_str(), readable(found.window).c_str(), found.sent,
                found.received, found.overrun);
    EXPECT_LE(found.received, found.sent);
    return found.carried / shaped.options.expected;
  }));
}

TEST(MeasureRate, FindsTheTokenBucketOf50Mbit) {
  expect_rate({"50mbit", "30kb", "300kb", {.expected = 50_Mbit, .burst = 30_KiB}});
}

TEST(MeasureRate, FindsTheTokenBucketOf200Mbit) {
  expect_rate({"200mbit", "60kb", "400kb", {.expected = 200_Mbit, .burst = 60_KiB}});
}

TEST(MeasureRate, FindsItWithPlainDatagramsToo) {
  expect_rate({"200mbit", "60kb", "400kb", {.expected = 200_Mbit, .sends = Sends::Datagrams}});
}

TEST(MeasureRate, OfALineMuchFasterThanExpectedSaysSo) {
  const auto link = test_link();
  if (!link) GTEST_SKIP() << "no namespaces here";
  // Nothing limits the cable: what arrives is what was offered, 1.2 times.
  const double offered = nearest_share([&] {
    const MeasuredRate found = measure_rate(link->a6(), link->b6(), {.expected = 100_Mbit});
    EXPECT_EQ(found.received, found.sent);
    return found.carried / 120_Mbit;
  });
  expect_carried(offered);
}

}  // namespace
}  // namespace tw::measure
