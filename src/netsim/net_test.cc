// SPDX-License-Identifier: Apache-2.0
#include "trainwire/netsim/net.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>

namespace tw::netsim {
namespace {

using namespace std::chrono_literals;

/// Two hosts and a switch, or one line each way, and what became of messages.
struct Pair {
  Pair(const PortSettings& line, const TcpOptions& options, std::uint64_t seed = 1)
      : net({line, line}, seed,
            {.left = [this](std::uint64_t tag, Time now) { left[tag] = now; },
             .came = [this](std::uint64_t tag, Time now) { came[tag] = now; }}),
        connection(net.connect({0}, {1}, options)) {}

  /// Seconds that so many bytes take, from now on.
  double take(std::int64_t bytes, Time begin = 0) {
    net.send(connection, bytes, bytes, ++last, begin);
    while (!came.contains(last) && net.next() != kNever) net.advance(net.next());
    return came.contains(last) ? seconds(came[last] - begin) : -1;
  }

  std::map<std::uint64_t, Time> left;
  std::map<std::uint64_t, Time> came;
  std::uint64_t last = 0;
  Net net;
  int connection;
};

// 10 segments, then the window doubles until the line is full.
TEST(Net, ALongTransferFillsTheLine) {
  Pair pair({.name = "line", .rate = 1_Gbit, .delay = 100us}, {});
  const double took = pair.take(100'000'000);
  EXPECT_NEAR(took, 8e8 / 1e9 * 1514 / 1448, 0.01 * took);
  EXPECT_EQ(pair.net.sender(pair.connection).counts().resent, 0);
}

TEST(Net, AShortTransferTakesItsRoundTrips) {
  Pair pair({.name = "line", .rate = 10_Gbit, .delay = 10ms}, {});
  // 10, 20 and 40 segments: the last of 60 arrives after two round trips and one way.
  EXPECT_NEAR(pair.take(60 * 1448), 0.050, 0.001);
}

TEST(Net, APauseShrinksTheWindow) {
  TcpOptions options;
  Pair pair({.name = "line", .rate = 10_Gbit, .delay = 10ms}, options);
  pair.take(1'000'000);
  const int grown = pair.net.sender(pair.connection).window().segments;
  EXPECT_GT(grown, 100);
  const Time later = 1500 * kMillisecond;
  pair.net.advance(later);
  pair.net.send(pair.connection, 1000, 1000, 99, later);
  EXPECT_LE(pair.net.sender(pair.connection).window().segments, grown / 16);
}

}  // namespace
}  // namespace tw::netsim
