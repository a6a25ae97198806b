// SPDX-License-Identifier: Apache-2.0
#include "trainwire/netsim/net.h"

#include "trainwire/netsim/test_wire.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

PortSettings line(const std::string& name, std::optional<double> queue = {}) {
  return {.name = name, .rate = 1_Gbit, .delay = 50us, .queue_bytes = queue};
}

/// Two hosts' lines, one into a third, and the way back.
std::vector<PortSettings> joining() {
  return {line("a"), line("b"), line("down", 256e3), line("up"), line("to a"), line("to b")};
}

TcpOptions of_priority(int priority) {
  TcpOptions options;
  options.train_segments = 10;
  options.priority = priority;
  return options;
}

// 10 MB of the higher take their line as if they were alone, 83.6 ms; those of the lower come in the
// same time again.
TEST(Priority, TheHigherDoesNotNoticeTheLower) {
  Bed bed(joining());
  const int low = bed.net.connect({0, 2}, {3, 4}, of_priority(0));
  const int high = bed.net.connect({1, 2}, {3, 5}, of_priority(3));
  bed.net.send(low, 20'000'000, 20'000'000, 1, 0);
  bed.net.advance(50 * kMillisecond);
  bed.net.send(high, 10'000'000, 10'000'000, 2, 50 * kMillisecond);
  while (bed.came.size() < 2) bed.net.advance(bed.net.next());
  const double alone_s = 10e6 * 8 / 1e9 * 1514 / 1448;
  EXPECT_NEAR(seconds(bed.came[2]) - 0.05, alone_s, 0.03 * alone_s);
  EXPECT_GT(seconds(bed.came[1]), 3 * alone_s);
  EXPECT_LT(seconds(bed.came[1]), 4.2 * alone_s);
}

TEST(Priority, PortsThatNoTwoShareHoldNothingBack) {
  Bed bed(joining());
  bed.net.connect({0, 2}, {3, 4}, of_priority(5));
  for (int port = 0; port < 6; ++port) EXPECT_FALSE(bed.net.port(port).holds()) << port;
  bed.net.connect({1, 2}, {3, 5}, of_priority(4));
  for (int port = 0; port < 6; ++port) {
    EXPECT_EQ(bed.net.port(port).holds(), port == 2 || port == 3) << port;
  }
}

// Each priority has the queue to itself: what waits of the lower leaves the higher all its room.
TEST(Priority, AFullQueueIsTheLowersOwn) {
  Bed bed(joining());
  const DatagramOptions flood{.pace = 900_Mbit};
  const int a = bed.net.connect({0, 2}, flood);
  const int b = bed.net.connect({1, 2}, flood);
  const DatagramOptions few{.pace = 50_Mbit, .priority = 1};
  const int high = bed.net.connect({1, 2}, few);
  for (const int connection : {a, b}) bed.net.send(connection, 10'000'000, 10'000'000, 1, 0);
  bed.net.send(high, 500'000, 500'000, 2, 0);
  bed.net.advance(200 * kMillisecond);
  EXPECT_EQ(bed.net.received(high), 500'000);
  EXPECT_GT(bed.net.port(2).counts().dropped, 1000);
}

/// A host's line of 10 Gbit/s, four ways of 2.5 Gbit/s with delays that differ, the other host's line;
/// and one way back.
struct FourWays : Bed {
  explicit FourWays(Duration apart) : Bed(ports(apart)) {}
  static std::vector<PortSettings> ports(Duration apart) {
    std::vector<PortSettings> all{{.name = "from", .rate = 10_Gbit, .delay = 10us}};
    for (int way = 0; way < 4; ++way) {
      all.push_back({.name = "way " + std::to_string(way),
                     .rate = 2500_Mbit,
                     .delay = 10us + way * apart,
                     .queue_bytes = 512e3});
    }
    all.push_back({.name = "to", .rate = 10_Gbit, .delay = 10us, .queue_bytes = 512e3});
    all.push_back({.name = "back", .rate = 10_Gbit, .delay = 30us});
    return all;
  }
  static Sprayed ways() {
    return std::make_shared<const std::vector<std::vector<int>>>(
        std::vector<std::vector<int>>{{0, 1, 5}, {0, 2, 5}, {0, 3, 5}, {0, 4, 5}});
  }
  int spray(const TcpOptions& options) {
    const int made = net.connect({0, 1, 5}, {6}, options);
    net.spray(made, ways(), {});
    net.send(made, kEndless, kEndless, 1, 0);
    return made;
  }
};

TcpOptions sprayed() {
  TcpOptions options;
  options.train_segments = 40;
  options.reordered = true;
  return options;
}

// The four ways together have 10 Gbit/s, of which 95.6 % are payload; at full load the queues of ways
// that are picked by chance differ, and some overflow.
TEST(Spray, AStreamUsesAllWaysTogether) {
  FourWays bed(0us);
  const int stream = bed.spray(sprayed());
  const double rate = bed.rates(stream + 1, 100 * kMillisecond, 400 * kMillisecond).front();
  EXPECT_GT(rate, 0.8 * 10e9 * 1448 / 1514);
  for (int way = 1; way <= 4; ++way) {
    EXPECT_NEAR(static_cast<double>(bed.net.port(way).counts().payload_bytes),
                static_cast<double>(bed.net.port(0).counts().payload_bytes) / 4,
                0.05 * static_cast<double>(bed.net.port(0).counts().payload_bytes) / 4);
  }
}

// Ways that differ by 60 us, of a round trip of 60 to 120: a quarter of that is too little patience,
// and what is sent in error teaches more. Without, everything late would be sent twice.
TEST(Spray, WaitingForOrderIsLearnt) {
  FourWays patient(20us);
  const int stream = patient.spray(sprayed());
  patient.net.advance(400 * kMillisecond);
  TcpOptions rigid = sprayed();
  rigid.reordered = false;
  FourWays impatient(20us);
  const int other = impatient.spray(rigid);
  impatient.net.advance(400 * kMillisecond);
  const auto share = [](const Sender& sender) {
    return static_cast<double>(sender.counts().resent) /
           static_cast<double>(sender.counts().segments);
  };
  EXPECT_GT(patient.net.received(stream), 1.2 * static_cast<double>(impatient.net.received(other)));
  EXPECT_LT(share(patient.net.sender(stream)), share(impatient.net.sender(other)));
}

// Selective repetition waits for what may be on a longer way; going back throws it away.
TEST(Spray, QueuePairsThatRepeatSelectivelyCope) {
  const auto take_s = [](rdma::Repair repair, Duration reordering) {
    FourWays bed(5us);
    const int made = bed.net.connect_rdma(
        {0, 1, 5}, {6}, {.line = 9_Gbit, .repair = repair, .reordering = reordering});
    bed.net.spray(made, FourWays::ways(), {});
    bed.net.send(made, 10'000'000, 10'000'000, 1, 0);
    while (!bed.came.contains(1)) bed.net.advance(bed.net.next());
    return std::pair(seconds(bed.came[1]), bed.net.rdma_sender(made).counts().resent);
  };
  const double line_s = 10e6 * 8 / 9e9 * 1082 / 1024;
  const auto [waited_s, resent] = take_s(rdma::Repair::Selective, 2ms);
  EXPECT_NEAR(waited_s, line_s, 0.05 * line_s);
  EXPECT_EQ(resent, 0);
  EXPECT_GT(take_s(rdma::Repair::Selective, 0ms).second, 100);
  EXPECT_GT(take_s(rdma::Repair::GoBackN, 0ms).first, 2 * line_s);
}

// A program that writes 5 MB a second to a line of 12.5 has them sent at that rate, 16 KiB at once.
TEST(Sender, AProgramsPaceIsNotTheConnections) {
  TcpOptions options;
  options.program_bytes_per_s = 5e6;
  Wire wire(options, 100_Mbit, std::chrono::milliseconds(2), {});
  wire.sender.write(kEndless, 0);
  int most = 0;
  wire.advance(1000 * kMillisecond,
               [&](Time) { most = std::max(most, wire.sender.outstanding().count()); });
  EXPECT_NEAR(static_cast<double>(wire.sender.sent_bytes()), 5e6, 40'000);
  EXPECT_GE(most, 11);
  EXPECT_LT(most, 24);
}

}  // namespace
}  // namespace tw::netsim
