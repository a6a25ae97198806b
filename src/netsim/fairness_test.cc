// SPDX-License-Identifier: Apache-2.0
#include "trainwire/netsim/test_wire.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <string>
#include <vector>

namespace tw::netsim {
namespace {

using namespace std::chrono_literals;

/// Rates of streams over one line of 100 Mbit/s with 60 packets of queue, each with its own round
/// trip.
std::vector<double> shares(const std::string& control, const std::vector<Duration>& round_trips,
                           Time during) {
  std::vector<PortSettings> ports = {
      {.name = "shared", .rate = 100_Mbit, .queue_bytes = 60 * 1514}};
  for (std::size_t i = 0; i < round_trips.size(); ++i) {
    const std::string name = std::to_string(i);
    ports.push_back({.name = "host" + name, .rate = 1_Gbit, .delay = round_trips[i] / 2});
    ports.push_back({.name = "back" + name, .rate = 1_Gbit, .delay = round_trips[i] / 2});
  }
  Bed bed(std::move(ports));
  TcpOptions options;
  options.congestion_control = control;
  const int streams = static_cast<int>(round_trips.size());
  for (int i = 0; i < streams; ++i) {
    bed.stream({1 + 2 * i, 0}, {2 + 2 * i}, options, i * 7 * kMillisecond);
  }
  return bed.rates(streams, during / 4, during);
}

TEST(Fairness, EqualsShareEqually) {
  for (const std::string control : {"reno", "cubic"}) {
    const auto rates = shares(control, {20ms, 20ms, 20ms, 20ms}, 90'000 * kMillisecond);
    EXPECT_GT(fairness(rates), 0.97) << control;
    EXPECT_GT(std::accumulate(rates.begin(), rates.end(), 0.0), 0.90 * 95.6e6) << control;
  }
}

// At a queue that overflows both lose at the same times: between the ratio of round trips, as where
// each segment is as likely to be lost, and its square, as where both lose each time.
TEST(Fairness, WhoIsTwiceAsFarGetsBetweenHalfAndAQuarter) {
  const auto rates = shares("reno", {20ms, 40ms}, 40'000 * kMillisecond);
  EXPECT_GT(rates[0] / rates[1], 1.9);
  EXPECT_LT(rates[0] / rates[1], 4);
}

// Where every segment is as likely to be lost, twice the round trip is half the rate.
TEST(Fairness, AtTheSameLossTwiceTheRoundTripIsHalfTheRate) {
  std::vector<PortSettings> ports;
  for (const int milliseconds : {10, 20}) {
    ports.push_back({.name = "there" + std::to_string(milliseconds),
                     .rate = 1_Gbit,
                     .delay = std::chrono::milliseconds(milliseconds),
                     .loss = 1e-3});
    ports.push_back({.name = "back" + std::to_string(milliseconds),
                     .rate = 1_Gbit,
                     .delay = std::chrono::milliseconds(milliseconds)});
  }
  Bed bed(std::move(ports));
  TcpOptions options;
  options.congestion_control = "reno";
  for (int i = 0; i < 2; ++i) bed.stream({2 * i}, {2 * i + 1}, options);
  const auto rates = bed.rates(2, 1000 * kMillisecond, 100'000 * kMillisecond);
  EXPECT_NEAR(rates[0] / rates[1], 2, 0.2);
}

// 1.75 of the share and 0.25; Reno's where nobody knows.
TEST(Mltcp, GrowsFasterTowardsTheEndOfAStep) {
  EXPECT_DOUBLE_EQ(mltcp_gain(0), 0.25);
  EXPECT_DOUBLE_EQ(mltcp_gain(1), 2);
  EXPECT_DOUBLE_EQ(mltcp_gain(-1), 1);
  for (const double share : {0.0, 0.5, 1.0}) {
    const auto control = make_mltcp();
    Window window{.segments = 100, .threshold = 50};
    // Ten windows' worth of acknowledgements.
    for (int i = 0; i < 1000; ++i) control->grow({.delivered = 1, .step_share = share}, window);
    EXPECT_NEAR(window.segments - 100, 10 * mltcp_gain(share), 2) << share;
  }
}

// Two streams behind one queue, one at the beginning of its step, one at its end: eight times the
// growth, and by AIMD with losses in common at most as many times the rate.
TEST(Mltcp, WhoIsNearerToItsEndHasMore) {
  const PortSettings line{.name = "line", .rate = 100_Mbit, .delay = 2ms, .queue_bytes = 50e3};
  const PortSettings wide{.name = "wide", .rate = 1_Gbit, .delay = 2ms};
  Bed bed({wide, wide, line, wide});
  TcpOptions options;
  options.congestion_control = "mltcp";
  const int early = bed.net.connect({0, 2}, {3}, options);
  const int late = bed.net.connect({1, 2}, {3}, options);
  bed.net.begin_step(early, kEndless);
  bed.net.send(late, 1, 1, 1, 0);
  bed.net.advance(50 * kMillisecond);
  bed.net.begin_step(late, 1);
  bed.net.send(early, kEndless, kEndless, 2, 50 * kMillisecond);
  bed.net.send(late, kEndless, kEndless, 3, 50 * kMillisecond);
  const std::vector<double> rates = bed.rates(2, 3000 * kMillisecond, 13'000 * kMillisecond);
  EXPECT_GT(rates[1], 2 * rates[0]);
  EXPECT_LT(rates[1], 10 * rates[0]);
}

}  // namespace
}  // namespace tw::netsim
