// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/milestone.h"

#include <gtest/gtest.h>

#include <map>

namespace tw::flow {
namespace {

/// A stream of 10 MB sent at 1 byte a nanosecond in pieces of `piece`, beginning at `first`.
Milestones sent(std::uint32_t first, std::uint32_t piece) {
  Milestones milestones;
  for (std::uint32_t sent = 0; sent < 10'000'000; sent += piece) {
    milestones.pass(sent, first + sent);
  }
  return milestones;
}

TEST(Milestones, StayWithinTheirBound) {
  EXPECT_LE(sent(0, 1448).passed().size(), Milestones::kMost);
  EXPECT_GE(sent(0, 1448).passed().size(), Milestones::kMost / 4);
}

TEST(Milestones, AreCommonToCapturesThatCutAStreamDifferently) {
  for (const std::uint32_t first : {0u, 1000u, 0xfff00000u}) {
    const Milestones small = sent(first, 1448);
    const Milestones large = sent(first, 60'000);
    std::map<std::uint64_t, std::int64_t> fine;
    for (const Milestone& m : small.passed()) fine[m.position] = m.time_ns;
    int common = 0;
    for (const Milestone& m : large.passed()) {
      if (!fine.contains(m.position)) continue;
      ++common;
      // Passed when a piece ended at or behind it: at most one piece later.
      EXPECT_NEAR(static_cast<double>(m.time_ns), static_cast<double>(fine[m.position]), 60'000);
    }
    EXPECT_GE(common, 3) << first;
  }
}

TEST(Milestones, IgnoreNumbersThatAreNotAhead) {
  Milestones milestones;
  for (const std::uint32_t number : {100u, 200u, 150u, 200u}) milestones.pass(number, number);
  EXPECT_EQ(milestones.passed().size(), 2u);
}

}  // namespace
}  // namespace tw::flow
