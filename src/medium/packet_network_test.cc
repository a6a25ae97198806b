// SPDX-License-Identifier: Apache-2.0
#include "trainwire/medium/packet_network.h"

#include "trainwire/base/error.h"
#include "trainwire/medium/port_settings.h"
#include "trainwire/spec/parse.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <map>

namespace tw::medium {
namespace {

using namespace std::chrono_literals;

spec::Network network_of(const std::string& text) {
  const spec::Vocabulary words{};
  return spec::parse("[network]\n" + text, "x.toml", words, {}).network;
}

/// A network of packets, and what became of the messages on it.
struct Packets {
  explicit Packets(const std::string& text)
      : network(network_of(text), 1,
                {.left = [this](Tag tag, Duration now) { left[tag] = now; },
                 .came = [this](Tag tag, Duration now) { came[tag] = now; },
                 .began = [this](Tag tag, Duration now) { began[tag] = now; }}) {}
  void play() {
    while (const auto next = network.next()) network.advance(*next);
  }
  void play_until(Duration now) {
    for (auto next = network.next(); next && *next <= now; next = network.next()) {
      network.advance(*next);
    }
  }

  std::map<Tag, Duration> left;
  std::map<Tag, Duration> came;
  std::map<Tag, Duration> began;
  PacketNetwork network;
};

TEST(PacketNetwork, AMessageTakesTheLineAndItsWay) {
  Packets packets("hosts = 2");
  packets.network.send(packets.network.connect(0, 1), 100'000'000, 7, 0s);
  packets.play();
  EXPECT_NEAR(seconds(packets.came[7]), 0.8 * 1514 / 1448, 0.01);
  EXPECT_LT(packets.left[7], packets.came[7]);
  EXPECT_EQ(packets.network.figures(0).payload_bytes, 1e8);
  EXPECT_GT(packets.network.figures(1).wire_bytes, 0);  // acknowledgements
}

TEST(PacketNetwork, NothingAndNeighboursTakeNoTimeOnTheLine) {
  Packets packets("hosts = 2\ndelay = \"1ms\"");
  packets.network.send(packets.network.connect(0, 1), 0, 0, 5s);
  packets.network.send(packets.network.connect(1, 1), 1'000'000, 1, 6s);
  packets.play();
  EXPECT_EQ(packets.came[0], 5s + 2ms);
  EXPECT_EQ(packets.came[1], 6s);
}

// host1 passes on what host0 sends: the end comes one way later, not one transfer.
TEST(PacketNetwork, WhatIsPassedOnFollowsClosely) {
  Packets packets("hosts = 3");
  const int first = packets.network.connect(0, 1);
  const int second = packets.network.connect(1, 2);
  packets.network.send_on(first, 10'000'000, 1, {}, 0s);
  while (!packets.began.contains(1)) packets.network.advance(*packets.network.next());
  const Tag source = 1;
  packets.network.send_on(second, 10'000'000, 2, {&source, 1}, packets.began[1]);
  packets.play();
  EXPECT_GT(packets.came[2], packets.came[1]);
  EXPECT_LT(packets.came[2], packets.came[1] + 2ms);
}

// Inside a host too a message that passes another on is there when that one is.
TEST(PacketNetwork, WhatIsPassedOnInsideAHostWaits) {
  Packets packets("hosts = 2");
  packets.network.send_on(packets.network.connect(0, 1), 10'000'000, 1, {}, 0s);
  while (!packets.began.contains(1)) packets.network.advance(*packets.network.next());
  const Tag source = 1;
  packets.network.send_on(packets.network.connect(1, 1), 10'000'000, 2, {&source, 1},
                          packets.began[1]);
  EXPECT_FALSE(packets.left.contains(2));
  packets.play();
  EXPECT_EQ(packets.came[2], packets.came[1]);
}

TEST(PacketNetwork, AnEmptyMessageDoesNotOvertake) {
  Packets packets("hosts = 2");
  const int connection = packets.network.connect(0, 1);
  packets.network.send(connection, 10'000'000, 1, 0s);
  packets.network.send(connection, 0, 2, 0s);
  packets.play();
  EXPECT_EQ(packets.came[2], packets.came[1]);
}

TEST(PacketNetwork, DatagramsKeepTheirPaceAndTheQueueDropsTheRest) {
  Packets packets("hosts = 3\nrate = \"100Mbit\"");
  const Sending fast{.manner = Manner::Datagrams, .pace = 90_Mbit};
  std::array<int, 2> both{};
  for (int from = 0; from < 2; ++from) {
    both[static_cast<std::size_t>(from)] = packets.network.connect(from, 2, fast);
    packets.network.send(both[static_cast<std::size_t>(from)], 100'000'000, static_cast<Tag>(from),
                         0s);
  }
  packets.play_until(1s);
  const double came = static_cast<double>(packets.network.arrived(both[0], 1s) +
                                          packets.network.arrived(both[1], 1s));
  EXPECT_NEAR(8 * came, 1e8 * 1472 / 1514, 2e6);
  EXPECT_GT(packets.network.figures(5).dropped, 1000);
}

// As the kernel's bucket on a host's device does on emulated networks: it pushes back.
TEST(PacketNetwork, AHostsOwnQueueMarksNoTcp) {
  const spec::Network asked = network_of("hosts = 3\necn = \"30kB\"\n");
  const network::Network network(asked);
  for (const netsim::PortSettings& settings : port_settings(asked, network)) {
    EXPECT_EQ(settings.marking.has_value(), settings.queue_bytes.has_value()) << settings.name;
    ASSERT_TRUE(settings.lossless_marking);
    EXPECT_EQ(settings.lossless_marking->from, 30e3);
  }
}

// 72 % of 64 kB are 31.8 segments.
TEST(PacketNetwork, SocketsHaveWholeSegmentsOnTheirWay) {
  const netsim::TcpOptions options = tcp_options(network_of("hosts = 2\nsocket_buffer = \"64KB\""));
  EXPECT_EQ(options.window_bytes, 32 * 1448);
  EXPECT_EQ(options.send_buffer_bytes, 64'000);
}

// 1 MB that nobody reads: 64 KiB are in the receiver's socket until somebody does.
TEST(PacketNetwork, WhatNobodyReadsWaitsBeforeAFullSocket) {
  Packets packets("hosts = 2\nrate = \"100Mbit\"");
  const int connection = packets.network.connect(0, 1, {.is_read_in_turn = true});
  packets.network.send(connection, 1'000'000, 1, 0s);
  packets.play_until(1s);
  EXPECT_NEAR(static_cast<double>(packets.network.arrived(connection, 1s)), 65536, 1448);
  packets.network.reads(connection, 1s);
  packets.play();
  EXPECT_NEAR(seconds(packets.came[1]), 1 + 0.934 * 0.08 * 1514 / 1448, 0.01);
}

// Told before it is sent, a message comes as ever; the next one waits for its turn.
TEST(PacketNetwork, MessagesAreReadInTheirOrder) {
  Packets packets("hosts = 2\nrate = \"100Mbit\"");
  const int connection = packets.network.connect(0, 1, {.is_read_in_turn = true});
  packets.network.reads(connection, 0s);
  packets.network.send(connection, 1'000'000, 1, 0s);
  packets.network.send(connection, 1'000'000, 2, 0s);
  packets.play_until(1s);
  EXPECT_TRUE(packets.came.contains(1));
  EXPECT_FALSE(packets.came.contains(2));
  packets.network.reads(connection, 1s);
  packets.play();
  EXPECT_TRUE(packets.came.contains(2));
}

TEST(PacketNetwork, RefusesACongestionControlThatItDoesNotKnow) {
  EXPECT_THROW(Packets("congestion_control = \"vegas\""), SpecError);
}

}  // namespace
}  // namespace tw::medium
