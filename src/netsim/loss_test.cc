// SPDX-License-Identifier: Apache-2.0
// Rates under random loss, against laws and what others have published.
#include "trainwire/netsim/test_wire.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string>

namespace tw::netsim {
namespace {

using namespace std::chrono_literals;

/// Mean window where every `period`th segment is lost, over `cycles` of those. The first one lost
/// ends slow start: `from` times Reno's window, so that it is reached from below or from above.
double window_under_loss(const std::string& control, Duration round_trip, std::int64_t period,
                         int skipped, int cycles, double from = 1) {
  TcpOptions options;
  options.congestion_control = control;
  options.window_bytes = 1 << 30;
  const auto first = static_cast<std::int64_t>(from * std::sqrt(1.5 * static_cast<double>(period)));
  Wire wire(options, 100_Gbit, round_trip, [&](const Packet&, std::int64_t number) {
    return number >= first && (number - first) % period == 0;
  });
  wire.sender.write(kEndless, 0);
  Time begin = 0;
  Time now = 0;
  std::int64_t before = 0;
  while (wire.sent() < first + (skipped + cycles) * period) {
    wire.advance(now = wire.next());
    if (begin > 0 || wire.sent() < first + skipped * period) continue;
    begin = now;
    before = wire.receiver.next();
  }
  EXPECT_EQ(wire.sender.counts().timeouts, 0);
  const auto segments = static_cast<double>(wire.receiver.next() - before);
  return segments / seconds(now - begin) * std::chrono::duration<double>(round_trip).count();
}

// RFC 8312, tables 1 and 2: 12, 38, 120 and 379 segments. They do not count the round trip in which
// a loss is repaired, which is one of eight where every hundredth segment is lost.
TEST(Loss, RenosWindowIsThatOfRfc8312) {
  for (const Duration round_trip : {10ms, 100ms}) {
    EXPECT_NEAR(window_under_loss("reno", round_trip, 100, 10, 100), 12, 0.2 * 12);
    EXPECT_NEAR(window_under_loss("reno", round_trip, 1'000, 5, 40), 38, 0.05 * 38);
    EXPECT_NEAR(window_under_loss("reno", round_trip, 10'000, 4, 6), 120, 0.05 * 120);
  }
  EXPECT_NEAR(window_under_loss("reno", 100ms, 100'000, 1, 3), 379, 0.10 * 379);
}

// The same tables at 10 ms: 12, 38 and 120 segments, as Reno. Linux lets 31 ms pass before it grows,
// which is a third of the time where every hundredth segment is lost.
TEST(Loss, CubicsWindowIsRenosAt10Milliseconds) {
  EXPECT_NEAR(window_under_loss("cubic", 10ms, 100, 10, 100), 12, 0.35 * 12);
  EXPECT_NEAR(window_under_loss("cubic", 10ms, 1'000, 5, 40), 38, 0.15 * 38);
  EXPECT_NEAR(window_under_loss("cubic", 10ms, 10'000, 4, 6), 120, 0.05 * 120);
}

// At 100 ms: 12, 38, 187 and 1,054 segments. Linux is above the smooth law where windows are small:
// its curve is in whole segments, rounded towards the next one. Reached from below, fast convergence
// keeps windows around 190 lower for tens of losses.
TEST(Loss, CubicsWindowIsThatOfRfc8312At100Milliseconds) {
  EXPECT_NEAR(window_under_loss("cubic", 100ms, 100, 10, 100), 12, 0.2 * 12);
  EXPECT_NEAR(window_under_loss("cubic", 100ms, 1'000, 10, 40), 38, 0.2 * 38);
  EXPECT_NEAR(window_under_loss("cubic", 100ms, 10'000, 10, 8), 187, 0.2 * 187);
  EXPECT_NEAR(window_under_loss("cubic", 100ms, 10'000, 6, 6, 3), 187, 0.1 * 187);
  EXPECT_NEAR(window_under_loss("cubic", 100ms, 100'000, 1, 2), 1054, 0.1 * 1054);
}

/// Bits a second over a line of 1 Gbit/s with the loss in both directions.
double rate_under_loss(const TcpOptions& options, Duration round_trip, double loss, Time during,
                       bool loses_trains = false) {
  PortSettings there{.name = "there",
                     .rate = 1_Gbit,
                     .delay = round_trip / 2,
                     .loss = loss,
                     .loses_trains = loses_trains,
                     .queue_bytes = 1e6};
  PortSettings back = there;
  back.name = "back";
  Bed bed({there, back}, 5);
  bed.stream({0}, {1}, options);
  return bed.rates(1, 1000 * kMillisecond, 1000 * kMillisecond + during).front();
}

TcpOptions with(const std::string& control, int train = 1) {
  TcpOptions options;
  options.congestion_control = control;
  options.train_segments = train;
  return options;
}

// Ott, Kemperman & Mathis 1996: 1.31 / sqrt(p) where losses are independent.
TEST(Loss, RenosRateFollowsTheSquareRoot) {
  for (const double loss : {1e-3, 4e-3}) {
    const double window =
        rate_under_loss(with("reno"), 20ms, loss, 120'000 * kMillisecond) / 8 / 1448 * 0.02;
    EXPECT_NEAR(window, 1.31 / std::sqrt(loss), 0.1 * window) << loss;
  }
}

// What Linux reached over emulated links of 1 Gbit/s and 10 ms, in Mbit/s: where time-outs are rare.
// A minute has some hundred losses, and another one other rates, by 5 %.
TEST(Loss, RatesAreThoseOfLinuxWithoutTimeOuts) {
  const Time during = 60'000 * kMillisecond;
  EXPECT_NEAR(rate_under_loss(with("cubic"), 10ms, 1e-3, during) / 1e6, 39, 0.2 * 39);
  EXPECT_NEAR(rate_under_loss(with("cubic"), 10ms, 1e-2, during) / 1e6, 10.6, 0.2 * 10.6);
  EXPECT_NEAR(rate_under_loss(with("cubic"), 10ms, 2e-2, during) / 1e6, 6.7, 0.25 * 6.7);
  EXPECT_NEAR(rate_under_loss(with("reno"), 10ms, 1e-3, during) / 1e6, 45, 0.2 * 45);
  EXPECT_NEAR(rate_under_loss(with("reno"), 10ms, 1e-2, during) / 1e6, 13.1, 0.2 * 13.1);
}

// Links that see trains lose them as a whole: at the same share lost, losses are fewer.
TEST(Loss, WholeTrainsLostCostLess) {
  const Time during = 20'000 * kMillisecond;
  for (const double loss : {1e-3, 1e-2}) {
    const double ratio = rate_under_loss(with("cubic", 44), 1ms, loss, during, true) /
                         rate_under_loss(with("cubic", 44), 1ms, loss, during);
    EXPECT_GT(ratio, 3) << loss;
    EXPECT_LT(ratio, 7) << loss;
  }
}

}  // namespace
}  // namespace tw::netsim
