// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/same_axis.h"

#include <gmock/gmock.h>

namespace tw::operations {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// Ends of three collectives in each step of 100 ms, at 20, 33 and 71 ms.
std::vector<std::int64_t> ends(int first_step, int steps) {
  std::vector<std::int64_t> made;
  for (int step = first_step; step < first_step + steps; ++step) {
    for (const int at : {20, 33, 71}) made.push_back((100 * step + at) * kMs);
  }
  return made;
}

std::vector<std::int64_t> moved(std::vector<std::int64_t> times, std::int64_t by) {
  for (std::int64_t& time : times) time += by;
  return times;
}

TEST(WireClock, TwoStepsOfATraceStandInACaptureOfTen) {
  const auto alike = wire_clock(moved(ends(4, 2), 200'000), ends(0, 10));
  ASSERT_TRUE(alike);
  EXPECT_EQ(alike->offset_ns, -200'000);
  EXPECT_EQ(alike->matched, 6U);
  EXPECT_FALSE(alike->is_other());
}

TEST(WireClock, AnotherClockIsFoundUpToHalfAStep) {
  for (const std::int64_t by : {-45 * kMs, -7 * kMs, 12 * kMs, 48 * kMs}) {
    const auto other = wire_clock(moved(ends(4, 3), by), ends(0, 10));
    ASSERT_TRUE(other) << by;
    EXPECT_EQ(other->offset_ns, -by);
    EXPECT_TRUE(other->is_other());
  }
}

TEST(WireClock, HoursApartShowWhereAllStepsAreThere) {
  const auto other = wire_clock(moved(ends(0, 10), 7'200'000 * kMs), ends(0, 10));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->offset_ns, -7'200'000 * kMs);
  EXPECT_EQ(other->matched, 30U);
}

/// Steps of 100 ms and a few tenths, as programs take.
std::vector<std::int64_t> uneven(int first_step, int steps) {
  std::vector<std::int64_t> made;
  for (int step = first_step; step < first_step + steps; ++step) {
    const std::int64_t start = 100 * kMs * step + 700'000 * (step * step % 7 - 3);
    for (const int at : {20, 33, 71}) made.push_back(start + at * kMs);
  }
  return made;
}

TEST(WireClock, StepsThatTakeNotQuiteTheSameTimeAreToldApart) {
  for (const std::int64_t by : {-330 * kMs, -60 * kMs, 140 * kMs, 330 * kMs}) {
    const auto other = wire_clock(moved(uneven(4, 4), by), uneven(0, 12));
    ASSERT_TRUE(other) << by;
    EXPECT_EQ(other->offset_ns, -by);
    EXPECT_FALSE(other->also_ns);
  }
}

TEST(WireClock, StepsThatTakeTheSameTimeAreSaidToBe) {
  const auto other = wire_clock(moved(ends(4, 3), 140 * kMs), ends(0, 10));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->offset_ns, -40 * kMs);  // nearest
  ASSERT_TRUE(other->also_ns);
  EXPECT_THAT(*other->also_ns, testing::AnyOf(-140 * kMs, 60 * kMs));
}

TEST(WireClock, EndsThatAreNotThoseOfThePausesShowNothing) {
  std::vector<std::int64_t> strange;
  for (int i = 0; i < 20; ++i) strange.push_back((37 * i + 11 * i * i) * kMs + 300'000);
  EXPECT_FALSE(wire_clock(strange, ends(0, 10)));
  EXPECT_FALSE(wire_clock({}, ends(0, 10)));
  EXPECT_FALSE(wire_clock(ends(0, 10), {}));
}

}  // namespace
}  // namespace tw::operations
