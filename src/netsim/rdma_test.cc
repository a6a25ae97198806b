// SPDX-License-Identifier: Apache-2.0
// RDMA against what is published of it: DCQCN's convergence, the victim of pauses, what going back
// costs.
#include "trainwire/netsim/net.h"
#include "trainwire/rdma/dcqcn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace tw::netsim {
namespace {

using namespace std::chrono_literals;
using rdma::dcqcn_of_cards;
using rdma::dcqcn_of_paper;
using rdma::Lane;
using rdma::Options;
using rdma::Repair;

constexpr std::int64_t kEndless = 1'000'000'000'000;
constexpr double kLargePayload = 4096.0 / (4096 + 58);  ///< share of the line

PortSettings line(const std::string& name, BitRate rate = 100_Gbit) {
  return {.name = name,
          .rate = rate,
          .delay = 1us,
          .queue_bytes = 32e6,
          .lossless_marking = dcqcn_marking(rate)};
}

/// Into a switch that can make it pause.
PortSettings into_switch(const std::string& name, BitRate rate = 100_Gbit) {
  PortSettings settings = line(name, rate);
  settings.pause = rdma::pause_rule(4e6, rate, settings.delay, 4170);
  return settings;
}

Options cards() {
  return {.line = 100_Gbit, .payload_bytes = 4096, .rate = dcqcn_of_cards(100_Gbit)};
}

struct Fabric {
  explicit Fabric(const std::vector<PortSettings>& ports, std::uint64_t seed = 1)
      : net(ports, seed,
            {.left = [](std::uint64_t, Time) {},
             .came = [this](std::uint64_t tag, Time now) { came[tag] = now; }}) {}
  int endless(const std::vector<int>& there, const std::vector<int>& back, const Options& options,
              Duration begin) {
    net.advance(time_of(begin));
    const int connection = net.connect_rdma(there, back, options);
    net.send(connection, kEndless, kEndless, 0, time_of(begin));
    return connection;
  }
  /// Payload of a connection in bits a second.
  double rate(int connection, Duration begin, Duration end) {
    net.advance(time_of(begin));
    const std::int64_t before = net.received(connection);
    net.advance(time_of(end));
    return 8 * static_cast<double>(net.received(connection) - before) / tw::seconds(end - begin);
  }

  std::map<std::uint64_t, Time> came;
  Net net;
};

// Two senders, a switch, and a receiver: up, up, down; then the way back.
std::vector<PortSettings> joining() {
  return {into_switch("a"),  into_switch("b"), line("down"),
          into_switch("up"), line("to a"),     line("to b")};
}

class Joining : public ::testing::TestWithParam<bool> {};

// Published: equal rates, a queue between the bounds of marking, and no pause. The rates are judged
// over 20 ms within 10 %, the queue by its peaks: after each cut of both it falls below the lower
// bound, and with the cards' long way back up is empty at times. Nine tenths of the line are used.
TEST_P(Joining, TwoQueuePairsShareAPort) {
  Fabric fabric(joining());
  Options options = cards();
  if (GetParam()) options.rate = dcqcn_of_paper(100_Gbit);
  const int a = fabric.endless({0, 2}, {3, 4}, options, 0ms);
  const int b = fabric.endless({1, 2}, {3, 5}, options, 1ms);
  fabric.net.advance(time_of(20ms));
  const std::int64_t before_a = fabric.net.received(a);
  const std::int64_t before_b = fabric.net.received(b);
  double sum = 0;
  double peak = 0;
  int samples = 0;
  for (Duration now = 20ms; now < 40ms; now += 10us, ++samples) {
    fabric.net.advance(time_of(now));
    const double queue = fabric.net.port(2).held_bytes(Lane::Lossless);
    sum += queue;
    peak = std::max(peak, queue);
  }
  const auto got_a = static_cast<double>(fabric.net.received(a) - before_a);
  const auto got_b = static_cast<double>(fabric.net.received(b) - before_b);
  EXPECT_NEAR(got_a / (got_a + got_b), 0.5, 0.05);
  EXPECT_GT(8 * (got_a + got_b) / 0.020, 0.9 * 100e9 * kLargePayload);
  EXPECT_GT(peak, dcqcn_marking(100_Gbit).from);
  EXPECT_LT(peak, dcqcn_marking(100_Gbit).all);
  EXPECT_GT(sum / samples, 0.4 * dcqcn_marking(100_Gbit).from);
  EXPECT_EQ(fabric.net.port(0).counts().paused + fabric.net.port(1).counts().paused, 0);
  EXPECT_EQ(fabric.net.port(2).counts().dropped, 0);
  EXPECT_EQ(fabric.net.rdma_sender(a).counts().resent, 0);
}

INSTANTIATE_TEST_SUITE_P(Rdma, Joining, ::testing::Bool());

/// Two senders to one receiver and a third to another, over a trunk that carries all of them.
struct Victim : Fabric {
  explicit Victim(bool controlled)
      : Fabric({into_switch("a"), into_switch("b"), into_switch("v"),
                into_switch("trunk", 400_Gbit), line("down"), line("down v"), into_switch("up"),
                into_switch("up v"), into_switch("trunk back", 400_Gbit), line("to a"),
                line("to b"), line("to v")}) {
    Options options = cards();
    if (!controlled) options.rate.reset();
    a = endless({0, 3, 4}, {6, 8, 9}, options, 0ms);
    b = endless({1, 3, 4}, {6, 8, 10}, options, 0ms);
    v = endless({2, 3, 5}, {7, 8, 11}, options, 0ms);
  }
  int a = -1;
  int b = -1;
  int v = -1;
};

// Published: with pauses alone a flow that shares no busy port loses as well: of the trunk, which
// runs at the pace of the receiver, it has as much as each of the others. Within 10 %.
TEST(Rdma, PausesHaveAVictim) {
  Victim victim(false);
  EXPECT_NEAR(victim.rate(victim.v, 2ms, 6ms), 50e9 * kLargePayload, 5e9);
  EXPECT_NEAR(victim.rate(victim.a, 6ms, 8ms), 50e9 * kLargePayload, 5e9);
  EXPECT_GT(victim.net.port(3).counts().paused, 0);
  EXPECT_GT(victim.net.port(2).counts().paused, 0);
  for (const int port : {3, 4, 5}) EXPECT_EQ(victim.net.port(port).counts().dropped, 0);
}

TEST(Rdma, RateControlSparesTheVictim) {
  Victim victim(true);
  EXPECT_GT(victim.rate(victim.v, 2ms, 6ms), 0.98 * 100e9 * kLargePayload);
  EXPECT_EQ(victim.net.port(3).counts().paused, 0);
}

/// Seconds that so many packets of 1,024 bytes take over one line of 10 Gbit/s with loss.
double take(Repair repair, double loss, std::int64_t packets) {
  // A loss is known to the sender 31 packets after the one that was lost was begun.
  const PortSettings there{
      .name = "there", .rate = 10_Gbit, .delay = 11'880ns, .loss = loss, .loss_burst = 1};
  const PortSettings back{.name = "back", .rate = 10_Gbit, .delay = 11'880ns};
  Fabric fabric({there, back}, 3);
  const int connection =
      fabric.net.connect_rdma({0}, {1}, {.line = 10_Gbit, .repair = repair, .nak_gap = 60us});
  fabric.net.send(connection, 1024 * packets, 1024 * packets, 1, 0);
  while (fabric.net.next() != kNever) fabric.net.advance(fabric.net.next());
  return seconds(fabric.came.at(1));
}

// Published: (1 - p) / (1 + p (W - 1)) against 1 - p; W = 31, p = 1/1000: 0.970 and 0.999. Some 300
// losses: within 0.006 and 0.001.
TEST(Rdma, GoingBackCostsAWindowForEachLoss) {
  constexpr std::int64_t kPackets = 300'000;
  const double clean = take(Repair::GoBackN, 0, kPackets);
  EXPECT_NEAR(clean, kPackets * 8.0 * 1082 / 10e9, 0.001 * clean);
  EXPECT_NEAR(clean / take(Repair::GoBackN, 1e-3, kPackets), 0.999 / 1.03, 0.006);
  EXPECT_NEAR(clean / take(Repair::Selective, 1e-3, kPackets), 0.999, 0.001);
}

// Every packet, answer and repetition may be lost.
TEST(Rdma, ALossyLinkDoesNotHang) {
  for (const Repair repair : {Repair::GoBackN, Repair::Selective}) {
    const PortSettings lossy{.name = "lossy", .rate = 10_Gbit, .delay = 10us, .loss = 0.1};
    Fabric fabric({lossy, lossy});
    const int connection = fabric.net.connect_rdma({0}, {1}, {.line = 10_Gbit, .repair = repair});
    for (std::uint64_t tag = 1; tag <= 50; ++tag) fabric.net.send(connection, 5000, 5000, tag, 0);
    while (fabric.net.next() != kNever) fabric.net.advance(fabric.net.next());
    EXPECT_EQ(fabric.came.size(), 50U);
    EXPECT_GT(fabric.net.rdma_sender(connection).counts().resent, 0);
  }
}

// Without pauses a queue that is full drops, and what was dropped comes in the end.
TEST(Rdma, AFullQueueDropsWhereNobodyPauses) {
  PortSettings narrow = line("narrow", 10_Gbit);
  narrow.queue_bytes = 100e3;
  Fabric fabric({line("wide"), narrow, line("back"), line("back too")});
  Options options = cards();
  options.rate.reset();
  const int connection = fabric.net.connect_rdma({0, 1}, {2, 3}, options);
  fabric.net.send(connection, 1'000'000, 1'000'000, 1, 0);
  while (fabric.net.next() != kNever) fabric.net.advance(fabric.net.next());
  EXPECT_GT(fabric.net.port(1).counts().dropped, 0);
  EXPECT_EQ(fabric.net.received(connection), 1'000'000);
}

// The lanes of a port have equal shares, and TCP's losses are its own.
TEST(Rdma, SharesALineWithTcp) {
  std::vector<PortSettings> ports = joining();
  ports[2].queue_bytes = 1e6;
  Fabric fabric(ports);
  const int rdma = fabric.endless({0, 2}, {3, 4}, cards(), 0ms);
  const int tcp = fabric.net.connect({1, 2}, {3, 5}, TcpOptions{.window_bytes = 64 << 20});
  fabric.net.send(tcp, kEndless, kEndless, 1, 0);
  EXPECT_NEAR(fabric.rate(rdma, 20ms, 30ms), 50e9 * kLargePayload, 8e9);
  EXPECT_EQ(fabric.net.rdma_sender(rdma).counts().resent, 0);
}

TEST(Port, RdmaMarksScaleWithTheRate) {
  EXPECT_EQ(dcqcn_marking(100_Gbit).from, 400e3);
  EXPECT_EQ(dcqcn_marking(100_Gbit).all, 1600e3);
}

// A request's last packet is as long as it must be, and its first has the header of a write.
TEST(Rdma, AMessageIsCutByItself) {
  Fabric fabric({line("there"), line("back")});
  const int connection = fabric.net.connect_rdma({0}, {1}, {.line = 100_Gbit});
  fabric.net.send(connection, 2000, 1500, 1, 0);
  fabric.net.send(fabric.net.connect_rdma({0}, {1}, {.line = 100_Gbit}), 1, 1, 2, 0);
  while (fabric.net.next() != kNever) fabric.net.advance(fabric.net.next());
  EXPECT_EQ(fabric.net.received(connection), 1024);
  fabric.net.allow(connection, 500, time_of(1ms));
  while (fabric.net.next() != kNever) fabric.net.advance(fabric.net.next());
  EXPECT_EQ(fabric.net.received(connection), 2000);
  EXPECT_EQ(fabric.net.port(0).counts().wire_bytes, 2001 + 3 * 58 + 2 * 16);
}

}  // namespace
}  // namespace tw::netsim
