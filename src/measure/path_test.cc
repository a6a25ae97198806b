// SPDX-License-Identifier: Apache-2.0
#include "trainwire/measure/path.h"

#include "trainwire/measure/test_link.h"
#include "trainwire/measure/test_tries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace tw::measure {
namespace {

using namespace std::chrono_literals;

TEST(MeasureRoundTrip, OfACableIsShortAndWithoutLoss) {
  const auto link = test_link();
  if (!link) GTEST_SKIP() << "no namespaces here";
  for (const bool ipv6 : {false, true}) {
    const MeasuredRoundTrip found =
        measure_round_trip(ipv6 ? link->a6() : link->a4(), ipv6 ? link->b6() : link->b4(),
                           {.count = 50, .spacing = 1ms});
    EXPECT_EQ(found.sent, 50);
    EXPECT_EQ(found.lost, 0);
    EXPECT_EQ(found.samples.size(), 50);
    EXPECT_TRUE(std::is_sorted(found.samples.begin(), found.samples.end()));
    EXPECT_GT(found.median, 0ns);
    EXPECT_LT(found.median, 5ms) << readable(found.median);
    EXPECT_GE(found.p99, found.median);
    EXPECT_LE(found.median_there, found.p99);
  }
}

TEST(MeasureRoundTrip, TakesTheNearestRank) {
  const std::vector<Duration> sorted = {1ms, 2ms, 3ms, 4ms};
  EXPECT_EQ(nearest_rank(sorted, 0.5), 2ms);
  EXPECT_EQ(nearest_rank(sorted, 0.51), 3ms);
  EXPECT_EQ(nearest_rank(sorted, 0.99), 4ms);
  EXPECT_EQ(nearest_rank({}, 0.5), 0ms);
}

TEST(MeasureRoundTrip, RefusesAPathThatDeliversNothing) {
  const auto link = test_link();
  if (!link) GTEST_SKIP() << "no namespaces here";
  const os::FileDescriptor island = os::make_network_namespace();
  // 10.9.0.3 has no interface in there, so it is refused at once, not after the five seconds.
  EXPECT_THROW(measure_round_trip(link->a4(), {island, "10.9.0.3"}), SystemError);
  EXPECT_THROW(measure_round_trip({link->a, "nonsense"}, link->b4()), SpecError);
}

TEST(MeasureLoss, OfACableIsNone) {
  const auto link = test_link();
  if (!link) GTEST_SKIP() << "no namespaces here";
  const MeasuredLoss found = measure_loss(link->a4(), link->b4(), {.packets = 3000});
  EXPECT_EQ(found.sent, 3000);
  EXPECT_EQ(found.received, 3000);
  EXPECT_EQ(found.share(), 0);
  EXPECT_TRUE(contains(found.interval(), 0));
}

TEST(MeasureLoss, CountsWhatDoesNotGetThrough) {
  const auto link = test_link();
  if (!link) GTEST_SKIP() << "no namespaces here";
  // 2000 frames of 74 bytes in 0.1 s are 11.8 Mbit/s: of those, 1 Mbit/s and the bucket (10 kB, 138
  // frames) and the queue (10 kB) get through, 138 + 138 + 169 frames; no more than a third anyway.
  if (!run_tc(link->a, {"tbf", "rate", "1mbit", "burst", "10kb", "limit", "10kb"})) {
    GTEST_SKIP() << "tc cannot set up a token bucket here";
  }
  const MeasuredLoss found = measure_loss(link->a4(), link->b4(), {.packets = 2000});
  EXPECT_EQ(found.sent, 2000);
  EXPECT_GT(found.received, 138);
  EXPECT_LT(found.received, 667);
  EXPECT_FALSE(contains(found.interval(), 0));
}

TEST(LossOptions, KeepFarBelowTheRateOfTheLine) {
  // A probe of 32 bytes is a frame of 94 with IPv6's headers: 752 bits.
  const LossOptions fast = loss_options({.rate = 1_Gbit, .loss = 0.01});
  EXPECT_EQ(fast.packets, 20'000);
  EXPECT_EQ(fast.per_second, 20'000);
  const LossOptions slow = loss_options({.rate = 1_Mbit, .loss = 0.01});
  EXPECT_DOUBLE_EQ(slow.per_second, 200'000.0 / 752);
  EXPECT_EQ(slow.packets, 1329);  // five seconds of 265.96 a second
  EXPECT_EQ(loss_options({.rate = 1_Gbit}).packets, 2000);
}

TEST(MeasurePath, MeasuresAllThree) {
  const auto link = test_link();
  if (!link) GTEST_SKIP() << "no namespaces here";
  if (!run_tc(link->a, {"tbf", "rate", "100mbit", "burst", "32kb", "limit", "300kb"})) {
    GTEST_SKIP() << "tc cannot set up a token bucket here";
  }
  expect_carried(nearest_share([&] {
    const PathMeasurement found =
        measure_path(link->a6(), link->b6(), {.rate = 100_Mbit, .burst = 32_KiB});
    EXPECT_LT(found.round_trip.median, 5ms);
    EXPECT_EQ(found.loss.lost(), 0);
    return found.rate.carried / 100_Mbit;
  }));
}

}  // namespace
}  // namespace tw::measure
