// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/pace.h"

#include <gmock/gmock.h>

namespace tw {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kBegin = 7'000 * kMs;

/// 100 MB/s: a piece of 200 us is 20,000 bytes.
Pace at_100_megabytes() { return {100e6, kBegin}; }

TEST(Pace, LetsGoInPieces) {
  Pace pace = at_100_megabytes();
  EXPECT_EQ(pace.allowance(0, kBegin), 0u);
  // Asked too early: it says when the piece is full.
  EXPECT_NEAR(static_cast<double>(pace.next_ns() - kBegin), 200'000, 2);
  EXPECT_EQ(pace.allowance(0, kBegin + kMs / 10), 0u);
  EXPECT_NEAR(static_cast<double>(pace.next_ns() - kBegin), 200'000, 2);
  EXPECT_EQ(pace.allowance(0, kBegin + kMs), 100'000u);
  EXPECT_EQ(pace.allowance(100'000, kBegin + kMs), 0u);
}

TEST(Pace, SmallRatesWaitForALargerPiece) {
  Pace pace(1e6, kBegin);
  // 16 KiB at 1 MB/s.
  EXPECT_EQ(pace.allowance(0, kBegin + 16 * kMs), 0u);
  EXPECT_EQ(pace.allowance(0, kBegin + 17 * kMs), 17'000u);
}

TEST(Pace, MakesUpForATenthOfASecondAndNoMore) {
  Pace pace = at_100_megabytes();
  // A second without sending would be 100 MB; 10 MB may be made up, the rest is forgone for good.
  EXPECT_EQ(pace.allowance(0, kBegin + 1000 * kMs), 10'000'000u);
  EXPECT_EQ(pace.allowance(10'000'000, kBegin + 1001 * kMs), 100'000u);
}

TEST(Pace, WithoutARateThereIsNoLimit) {
  EXPECT_GT(Pace(0, kBegin).allowance(1, kBegin), std::uint64_t{1} << 62);
}

}  // namespace
}  // namespace tw
