// SPDX-License-Identifier: Apache-2.0
#include "trainwire/netsim/test_wire.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string>

namespace tw::netsim {
namespace {

using namespace std::chrono_literals;

struct AfterLoss {
  int window = 0;     ///< before it
  int threshold = 0;  ///< after it
  Time repaired = 0;
};

/// A connection whose first segment is lost, up to where that is repaired.
AfterLoss lose_first(Wire& wire) {
  AfterLoss after;
  wire.sender.write(kEndless, 0);
  while (wire.sender.counts().recoveries == 0 || wire.sender.state() != State::Open) {
    wire.advance(after.repaired = wire.next());
  }
  after.window = wire.sender.window().before;
  after.threshold = wire.sender.window().threshold;
  return after;
}

TcpOptions wide(const std::string& control, int window) {
  TcpOptions options;
  options.congestion_control = control;
  options.initial_window = window;
  options.window_bytes = 1 << 30;
  return options;
}

bool is_first(const Packet&, std::int64_t number) { return number == 0; }

// RFC 9438, 4.2: W(t) = C (t - K)^3 + Wmax, K = cbrt(Wmax (1 - beta) / C).
TEST(Cubic, FollowsItsCurveAfterALoss) {
  Wire wire(wide("cubic", 400), 100_Gbit, 100ms, is_first);
  const AfterLoss after = lose_first(wire);
  EXPECT_EQ(after.window, 400);
  EXPECT_EQ(after.threshold, 280);
  const double rise = std::cbrt(400 * (1 - 717.0 / 1024) / 0.4);
  EXPECT_NEAR(rise, 6.69, 0.01);
  for (double t = 1; t < 13; t += 0.5) {
    wire.advance(after.repaired + time_of_seconds(t));
    const double expected = 400 + 0.4 * std::pow(t - rise, 3);
    EXPECT_NEAR(wire.sender.window().segments, expected, 0.01 * expected) << t;
  }
}

// Where round trips are short the curve is flat for long, and the window is that of a Reno that
// shrinks by three tenths and grows by 0.53 segments a round trip.
TEST(Cubic, IsRenoWhereRoundTripsAreShort) {
  Wire wire(wide("cubic", 100), 100_Gbit, 10ms, is_first);
  const AfterLoss after = lose_first(wire);
  for (const double t : {0.5, 1.0, 1.5}) {
    wire.advance(after.repaired + time_of_seconds(t));
    const double expected = after.threshold + 0.529 * t / 0.01;
    EXPECT_NEAR(wire.sender.window().segments, expected, 0.1 * expected) << t;
  }
}

// Linux looks at a window that has not changed only after 31 ms, so Reno's growth waits as well.
TEST(Cubic, RestsAfterALossAndMakesUpForIt) {
  Wire wire(wide("cubic", 100), 100_Gbit, 1ms, is_first);
  const AfterLoss after = lose_first(wire);
  wire.advance(after.repaired + time_of(25ms));
  EXPECT_LE(wire.sender.window().segments, after.threshold + 1);
  wire.advance(after.repaired + time_of(40ms));
  EXPECT_GE(wire.sender.window().segments, after.threshold + 10);
}

// HyStart ends slow start at some 1.5 times what the path holds. After a pause, which halves the
// window, slow start goes back to there whatever acknowledgements look like.
TEST(Cubic, SlowStartIsEndedByHyStartOnce) {
  Wire wire(wide("cubic", 10), 100_Mbit, 20ms, {});
  wire.sender.write(2'000'000, 0);
  wire.advance(time_of(2s));
  const int threshold = wire.sender.window().threshold;
  EXPECT_GT(threshold, 80);
  EXPECT_LT(threshold, 300);
  wire.sender.write(2'000'000, time_of(3s));
  wire.advance(time_of(5s));
  EXPECT_GE(wire.sender.window().threshold, threshold);
}

}  // namespace
}  // namespace tw::netsim
