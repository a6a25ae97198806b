// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/check.h"

#include "trainwire/network/test_plans.h"
#include "trainwire/testbed/calibrate.h"

#include <gtest/gtest.h>

#include <chrono>

namespace tw::testbed {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(PathsToCheck, ARingSeesEveryPortOfAStar) {
  const network::NetPlan plan = network::plan_of("hosts = 3");
  EXPECT_EQ(paths_to_check(plan, Coverage::EveryPort),
            (std::vector<CheckedPath>{{0, 1}, {1, 2}, {2, 0}}));
  EXPECT_TRUE(paths_to_check(network::plan_of("hosts = 1"), Coverage::EveryPort).empty());
}

TEST(PathsToCheck, OnePathStandsForLinksThatAreAlike) {
  EXPECT_EQ(paths_to_check(network::plan_of("hosts = 64"), Coverage::EveryKind).size(), 1);
  const network::NetPlan plan =
      network::plan_of("hosts = 64\n[[network.link]]\nat = \"host9\"\nrate = \"10Mbit\"");
  // Into host9 and out of it.
  EXPECT_EQ(paths_to_check(plan, Coverage::EveryKind),
            (std::vector<CheckedPath>{{0, 1}, {8, 9}, {9, 10}}));
}

TEST(PathsToCheck, CoreLinksAreSeenToo) {
  const network::NetPlan plan =
      network::plan_of("hosts = 8\ntopology = \"leafspine\"\nleaves = 2\nspines = 4");
  std::vector<bool> seen(plan.ports.size());
  for (const CheckedPath& path : paths_to_check(plan, Coverage::EveryPort)) {
    for (const int port : plan.path(path.from, path.to))
      seen[static_cast<std::size_t>(port)] = true;
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), false), 0);
}

// 1 % on both links: 1 - 0.99^2.
TEST(Expectation, AddsWhatThePortsDo) {
  const network::NetPlan plan = network::plan_of(
      "hosts = 2\nloss = 0.01\ndelay = \"5ms\"\n[[network.link]]\nat = \"host1\"\nrate = "
      "\"10Mbit\"");
  const measure::PathExpectation expected = expectation(plan, {0, 1});
  EXPECT_EQ(expected.rate, 10_Mbit);
  EXPECT_EQ(expected.round_trip, milliseconds(20));
  EXPECT_NEAR(expected.loss, 0.0199, 1e-12);
}

struct Judged {
  double rate = 100e6;
  Duration round_trip = milliseconds(20);
  std::uint64_t lost = 0;
};

PathCheck judged(const Judged& found) {
  measure::PathMeasurement measured;
  measured.rate.carried = BitRate(found.rate);
  measured.round_trip.median = found.round_trip;
  measured.loss = {.sent = 10'000, .received = 10'000 - found.lost};
  return judge({0, 1}, {.rate = 100_Mbit, .round_trip = milliseconds(20)}, measured);
}

TEST(Calibrate, TakesOffWhatARoundTripIsTooLong) {
  EXPECT_EQ(early_for(microseconds(1000), microseconds(1120), microseconds(250)), 60'000);
  EXPECT_EQ(early_for(microseconds(200), microseconds(900), microseconds(50)), 50'000);
  EXPECT_EQ(early_for(microseconds(200), microseconds(190), microseconds(50)), 0);
}

TEST(Judge, WarnsBeyondThreePercentAndRefusesBeyondTen) {
  EXPECT_EQ(judged({}).fitness, Fitness::Good);
  EXPECT_EQ(judged({.rate = 97.1e6}).fitness, Fitness::Good);
  EXPECT_EQ(judged({.rate = 96.9e6}).fitness, Fitness::Warned);
  EXPECT_EQ(judged({.rate = 104e6}).fitness, Fitness::Warned);
  EXPECT_EQ(judged({.rate = 89e6}).fitness, Fitness::Refused);
  EXPECT_EQ(judged({.round_trip = microseconds(20'900)}).fitness, Fitness::Good);
  EXPECT_EQ(judged({.round_trip = microseconds(21'100)}).fitness, Fitness::Warned);
  EXPECT_EQ(judged({.round_trip = microseconds(22'100)}).fitness, Fitness::Refused);
  // Of 10,000 packets 10 lost: the interval excludes 0.
  EXPECT_EQ(judged({.lost = 10}).fitness, Fitness::Refused);
  ASSERT_EQ(judged({.rate = 89e6}).problems.size(), 1);
  EXPECT_EQ(judged({.rate = 89e6}).problems[0],
            "the rate is 89 Mbit/s instead of 100 Mbit/s (-11.0 %)");
}

}  // namespace
}  // namespace tw::testbed
