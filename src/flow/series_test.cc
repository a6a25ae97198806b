// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/series.h"

#include <gtest/gtest.h>

#include <limits>

namespace tw::flow {
namespace {

const Clock kClock{.origin_ns = 0, .width_ns = 10};

Series series_at(const std::vector<std::int64_t>& times) {
  Series series;
  for (const std::int64_t time : times) series.add(kClock, time, 100);
  return series;
}

TEST(Series, SumsTheBytesOfAWindow) {
  // 0 and 9 are in window 0, 10 in window 1, 35 in window 3.
  EXPECT_EQ(series_at({0, 9, 10, 35}).windows(),
            (std::vector<Window>{{0, 200}, {1, 100}, {3, 100}}));
}

TEST(Series, PutsALatePacketIntoItsOwnWindow) {
  EXPECT_EQ(series_at({0, 50, 20, 51}).windows(),
            (std::vector<Window>{{0, 100}, {2, 100}, {5, 200}}));
  EXPECT_EQ(series_at({50, 20}).windows(), (std::vector<Window>{{2, 100}, {5, 100}}));
}

TEST(Series, PutsAVeryLatePacketIntoTheOldestOfTheLastSixteenWindows) {
  Series series;
  for (std::int64_t i = 1; i <= 20; ++i) series.add(kClock, 10 * i, 1);
  // The last sixteen are 5 to 20.
  EXPECT_EQ(series.add(kClock, 10, 7), 0u);
  EXPECT_EQ(series.windows()[4], (Window{5, 8}));
}

TEST(Series, FoldsNeighboursTogether) {
  Series series = series_at({0, 10, 30, 70});
  series.fold();
  // 0 and 1 become 0, 3 becomes 1, 7 becomes 3.
  EXPECT_EQ(series.windows(), (std::vector<Window>{{0, 200}, {1, 100}, {3, 100}}));
}

TEST(Series, SaturatesInsteadOfWrapping) {
  Series series;
  series.add(kClock, 0, 0xffffffff);
  series.add(kClock, 0, 5);
  EXPECT_EQ(series.windows().front().bytes, 0xffffffff);
}

TEST(Series, MergesAcrossClocks) {
  Series series = series_at({0, 30});
  // The other's window 1 begins at 104 + 10 on its clock, which leads by 100: at 14, so in window 1
  // (moved by at most half a width: 14 + 5 lies in 10..20).
  series.merge(series_at({10}), {.origin_ns = 104, .width_ns = 10}, kClock, {.offset_ns = 100});
  EXPECT_EQ(series.windows(), (std::vector<Window>{{0, 100}, {1, 100}, {3, 100}}));
}

TEST(Series, SubtractsAndScalesWithoutLosingTheSum) {
  Series series = series_at({0, 0, 0, 10, 20});
  series.subtract(series_at({0, 10}));
  EXPECT_EQ(series.windows(), (std::vector<Window>{{0, 200}, {2, 100}}));
  series.scale(1, 3);
  EXPECT_EQ(series.bytes(), 100u);
}

TEST(MostIn, IsWhatEverPassesInATime) {
  Series series;
  const std::uint32_t bytes[] = {100, 0, 500, 700, 0, 0, 600};
  for (std::uint32_t i = 0; i < 7; ++i) {
    if (bytes[i] > 0) series.add(i, bytes[i]);
  }
  const Series* all[] = {&series};
  EXPECT_EQ(most_in(all, 1), 700);
  EXPECT_EQ(most_in(all, 2), 1200);
  EXPECT_EQ(most_in(all, 4), 1300);
  EXPECT_EQ(most_in({}, 3), 0);
}

TEST(MostIn, AddsUpWhatPassesTogether) {
  Series one;
  Series other;
  one.add(3, 1000);
  other.add(3, 500);
  other.add(4, 400);
  const Series* all[] = {&one, &other};
  EXPECT_EQ(most_in(all, 1), 1500);
  EXPECT_EQ(most_in(all, 2), 1900);
}

// Times of a damaged capture may lie as far apart as windows can be counted.
TEST(MostIn, TakesTheLastWindowThatThereIs) {
  Series series;
  series.add(0, 1000);
  series.add(std::numeric_limits<std::uint32_t>::max() - 1, 500);
  const Series* all[] = {&series};
  EXPECT_EQ(most_in(all, 20), 1000);
}

}  // namespace
}  // namespace tw::flow
