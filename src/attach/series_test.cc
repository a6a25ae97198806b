// SPDX-License-Identifier: Apache-2.0
#include "trainwire/attach/series.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

namespace tw::attach {
namespace {

using testing::DoubleNear;
using testing::Each;

TEST(Series, StaysBoundedAndCoversAllTime) {
  Series series(1000);
  for (int i = 0; i < 100'000; ++i) {
    series.add(0.01 * i, {{"a", {.sent = static_cast<std::uint64_t>(i)}}, {"b", {}}});
  }
  EXPECT_LE(series.rows().size(), 500U);
  EXPECT_GE(series.rows().size(), 200U);
  EXPECT_EQ(series.rows().front().time_s, 0);
  EXPECT_GT(series.rows().back().time_s, 990);
}

/// Steps of `period` samples, of which the last third moves bytes in two bursts, with noise.
std::vector<double> steps(int count, int period) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> noise(0, 20);
  std::vector<double> bytes;
  for (int i = 0; i < count * period; ++i) {
    const int at = i % period;
    const bool moves = at > 2 * period / 3 && at != 5 * period / 6;
    bytes.push_back((moves ? 1000 : 0) + noise(random));
  }
  return bytes;
}

TEST(Rhythm, StepsAreFoundByBytesAlone) {
  const auto found = rhythm_of(steps(20, 37), 0.01);
  ASSERT_TRUE(found);
  std::vector<double> times;
  for (std::size_t i = 1; i < found->starts_s.size(); ++i)
    times.push_back(found->starts_s[i] - found->starts_s[i - 1]);
  EXPECT_GE(times.size(), 17U);
  EXPECT_THAT(times, Each(DoubleNear(0.37, 0.011)));
  EXPECT_GT(found->likeness, 0.9);
}

TEST(Rhythm, NoiseAndSilenceHaveNone) {
  std::mt19937 random(3);
  std::exponential_distribution<double> noise(1);
  std::vector<double> bytes;
  for (int i = 0; i < 1000; ++i) bytes.push_back(noise(random));
  EXPECT_FALSE(rhythm_of(bytes, 0.01));
  EXPECT_FALSE(rhythm_of(std::vector<double>(1000, 0), 0.01));
  EXPECT_FALSE(rhythm_of(std::vector<double>(1000, 5), 0.01));
  EXPECT_FALSE(rhythm_of({}, 0.01));
  EXPECT_FALSE(rhythm_of(steps(3, 37), 0.01));  // too few to be sure
}

TEST(Rhythm, TheBusiestDeviceTells) {
  Series series;
  const std::vector<double> bytes = steps(20, 30);
  DeviceCounts counts;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    counts.sent += static_cast<std::uint64_t>(bytes[i]);
    series.add(0.01 * static_cast<double>(i), {{"eth0", {.sent = i}}, {"mlx5_0/1", counts}});
  }
  const auto found = steps_by_counters(series, 1000);
  ASSERT_TRUE(found);
  EXPECT_NEAR(*found->median_s, 0.3, 0.011);
  EXPECT_GE(found->starts_s.front(), 1000);
  EXPECT_EQ(*found->evidence, "bytes of mlx5_0/1 over time repeat");
  EXPECT_FALSE(steps_by_counters(Series(), 0));
}

}  // namespace
}  // namespace tw::attach
