// SPDX-License-Identifier: Apache-2.0
#include "trainwire/netsim/outstanding.h"

#include "trainwire/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tw::netsim {
namespace {

TEST(Outstanding, ALostSegmentIsNotOnItsWayUntilItIsSentAgain) {
  Outstanding out;
  for (Time t = 0; t < 5; ++t) out.send({.sent = t, .end_byte = 100 * (t + 1), .bytes = 100});
  EXPECT_EQ(out.in_flight(), 5);
  out.mark_lost(1);
  out.mark_lost(3);
  EXPECT_EQ(out.in_flight(), 3);
  EXPECT_EQ(out.next_to_resend(0), 1);
  EXPECT_EQ(out.next_to_resend(2), 3);
  out.resend(1, 9);
  EXPECT_EQ(out.in_flight(), 4);
  EXPECT_EQ(out.next_to_resend(0), 3);
  out.mark_lost(1);  // once more
  EXPECT_EQ(out.in_flight(), 3);
  EXPECT_EQ(out.lost(), 2);
  EXPECT_EQ(out.next_to_resend(0), 1);
}

TEST(Outstanding, TheOldestIsTheOneSentFirst) {
  Outstanding out;
  for (Time t = 0; t < 3; ++t) out.send({.sent = t, .bytes = 100});
  EXPECT_EQ(out.oldest(), 0);
  out.mark_lost(0);
  EXPECT_EQ(out.oldest(), 1);
  out.resend(0, 7);
  EXPECT_EQ(out.oldest(), 1);
  out.mark_sacked(1);
  out.mark_sacked(2);
  EXPECT_EQ(out.oldest(), 0);
  out.drop_first();
  EXPECT_EQ(out.oldest(), -1);
}

/// Everything that is kept, computed anew.
void expect_counts(const Outstanding& out) {
  int sacked = 0;
  int lost = 0;
  int resent = 0;
  std::int64_t first_waiting = -1;
  std::int64_t oldest = -1;
  for (std::int64_t i = out.first(); i < out.next(); ++i) {
    const SentSegment& segment = out[i];
    sacked += segment.sacked;
    lost += segment.lost;
    resent += segment.resent_alive;
    if (segment.waits() && first_waiting < 0) first_waiting = i;
    const bool on_way = !segment.sacked && !segment.waits();
    if (on_way && (oldest < 0 || segment.sent < out[oldest].sent)) oldest = i;
  }
  ASSERT_EQ(out.sacked(), sacked);
  ASSERT_EQ(out.lost(), lost);
  ASSERT_EQ(out.resent(), resent);
  ASSERT_EQ(out.next_to_resend(0), first_waiting);
  ASSERT_EQ(out.oldest(), oldest);
}

TEST(Outstanding, CountsAreWhatThereIs) {
  Random random(1, "outstanding");
  Outstanding out;
  for (Time now = 0; now < 5'000; ++now) {
    const std::uint64_t what = random.below(10);
    if (out.empty() || what < 4) {
      out.send({.sent = now, .bytes = 100});
    } else if (what == 4) {
      out.drop_first();
    } else {
      const auto size = static_cast<std::uint64_t>(out.count());
      const std::int64_t some = out.first() + static_cast<std::int64_t>(random.below(size));
      if (out[some].sacked) continue;
      if (what < 7) out.mark_lost(some);
      if (what == 7) out.mark_sacked(some);
      if (what > 7) out.resend(some, now);
    }
    expect_counts(out);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tw::netsim
