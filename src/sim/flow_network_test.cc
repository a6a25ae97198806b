// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/flow_network.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/parse.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>

namespace tw::sim {
namespace {

using namespace std::chrono_literals;

spec::Network network_of(const std::string& text) {
  const spec::Vocabulary words{};
  return spec::parse("[network]\n" + text, "x.toml", words, {}).network;
}

TEST(PayloadShare, IsWhatHeadersLeave) {
  EXPECT_DOUBLE_EQ(payload_share(network_of("")), 1448.0 / 1514);
  EXPECT_DOUBLE_EQ(payload_share(network_of("ip_version = 6\nmtu = 9000")), 8928.0 / 9014);
}

/// A fluid network, and what became of the messages on it.
struct Watched {
  explicit Watched(const std::string& text)
      : network(network_of(text), {.left = [this](Tag tag, Duration now) { left[tag] = now; },
                                   .came = [this](Tag tag, Duration now) { came[tag] = now; }}) {}
  void play() {
    while (const auto next = network.next()) network.advance(*next);
  }

  std::map<Tag, Duration> left;
  std::map<Tag, Duration> came;
  FlowNetwork network;
};

// 1 Gbit/s, 50 us a link: a megabyte leaves in 8 ms and the headers' share.
TEST(FlowNetwork, AFlowAloneHasTheLine) {
  Watched watched("hosts = 2");
  const int connection = watched.network.connect(0, 1);
  watched.network.send(connection, 1'000'000, 7, 0s);
  watched.play();
  EXPECT_NEAR(seconds(watched.left[7]), 8e-3 * 1514 / 1448, 1e-9);
  // Two links, and the second one's time for a frame.
  EXPECT_EQ(watched.network.travelling(connection), 100us + Bytes(1514) / 1_Gbit);
  EXPECT_EQ(watched.came[7] - watched.left[7], watched.network.travelling(connection));
  EXPECT_NEAR(watched.network.figures(0).payload_bytes, 1e6, 1e-3);
  EXPECT_NEAR(watched.network.figures(3).payload_bytes, 1e6, 1e-3);
  EXPECT_EQ(watched.network.figures(1).payload_bytes, 0);
}

// Two into one host: each has half; when the shorter has ended, the other has all.
TEST(FlowNetwork, FlowsShareAPortAndTakeWhatOthersLeave) {
  Watched watched("hosts = 3");
  const double rate = 1e9 / 8 * 1448 / 1514;
  watched.network.send(watched.network.connect(0, 2), 3'000'000, 0, 0s);
  watched.network.send(watched.network.connect(1, 2), 1'000'000, 1, 0s);
  watched.network.next();
  EXPECT_TRUE(watched.network.certified());
  watched.play();
  EXPECT_NEAR(seconds(watched.left[1]), 2e6 / rate, 1e-8);
  EXPECT_NEAR(seconds(watched.left[0]), 4e6 / rate, 1e-8);
}

TEST(FlowNetwork, MessagesOfAConnectionGoOneAfterAnother) {
  Watched watched("hosts = 2");
  const int connection = watched.network.connect(0, 1);
  watched.network.send(connection, 1'000'000, 0, 0s);
  watched.network.send(connection, 1'000'000, 1, 0s);
  watched.play();
  EXPECT_NEAR(seconds(watched.left[1]), 2 * seconds(watched.left[0]), 1e-8);
}

TEST(FlowNetwork, NothingAndNeighboursTakeNoTime) {
  Watched watched("hosts = 2");
  watched.network.send(watched.network.connect(0, 1), 0, 0, 5s);
  watched.play();
  EXPECT_EQ(watched.left[0], 5s);
  watched.network.send(watched.network.connect(1, 1), 1'000'000, 1, 6s);
  watched.play();
  EXPECT_EQ(watched.left[1], 6s);
  EXPECT_EQ(watched.came[1], 6s);
}

// Half of the message has gone when the line becomes half as fast.
TEST(FlowNetwork, APortMayBecomeAnother) {
  Watched watched("hosts = 2");
  watched.network.send(watched.network.connect(0, 1), 1'000'000, 0, 0s);
  const Duration whole = *watched.network.next();
  network::Request request = watched.network.network().request(0);
  request.rate = request.rate / 2;
  watched.network.alter(0, request, whole / 2);
  watched.play();
  EXPECT_NEAR(seconds(watched.left[0]), 1.5 * seconds(whole), 1e-8);
}

// Datagrams of 800 Mbit/s as frames leave a stream the rest of a gigabit, whoever was first.
TEST(FlowNetwork, DatagramsTakeTheirPaceFirst) {
  Watched watched("hosts = 3\ndelay = 0");
  const BitRate pace(0.8e9 * 1472 / 1514);
  watched.network.send(watched.network.connect(0, 2), 1'000'000, 0, 0s);
  const int datagrams = watched.network.connect(1, 2, {.manner = Manner::Datagrams, .pace = pace});
  watched.network.send(datagrams, 100'000'000, 1, 0s);
  watched.network.next();
  watched.network.advance(*watched.network.next());
  EXPECT_NEAR(seconds(watched.left[0]), 8e6 / (0.2e9 * 1448 / 1514), 1e-5);
  EXPECT_NEAR(static_cast<double>(watched.network.arrived(datagrams, watched.left[0])),
              pace.bits_per_second() / 8 * seconds(watched.left[0]), 2000);
}

// Two of 800 Mbit/s into a gigabit: each is sent in its time, five in eight of its bytes come.
TEST(FlowNetwork, DatagramsThatFindNoRoomAreLost) {
  Watched watched("hosts = 3\ndelay = 0");
  const BitRate pace(0.8e9 * 1472 / 1514);
  const int first = watched.network.connect(0, 2, {.manner = Manner::Datagrams, .pace = pace});
  const int second = watched.network.connect(1, 2, {.manner = Manner::Datagrams, .pace = pace});
  watched.network.send(first, 8'000'000, 0, 0s);
  watched.network.send(second, 8'000'000, 1, 0s);
  watched.play();
  EXPECT_NEAR(seconds(watched.left[0]), 64e6 / pace.bits_per_second(), 1e-8);
  EXPECT_NEAR(static_cast<double>(watched.network.arrived(first, watched.left[0])), 5e6, 1);
  EXPECT_NEAR(watched.network.figures(5).wire_bytes, 10e6 * 1514 / 1472, 1);
}

// Half as fast as the line, until it is given up: the one beside it then has all.
TEST(FlowNetwork, AStreamKeepsToItsPaceUntilItIsClosed) {
  Watched watched("hosts = 3\ndelay = 0");
  const double line = 1e9 * 1448 / 1514;
  const int paced = watched.network.connect(0, 2, {.pace = BitRate(line / 4)});
  watched.network.send(paced, 1'000'000'000, 0, 0s);
  watched.network.send(watched.network.connect(1, 2), 1'000'000, 1, 0s);
  ASSERT_TRUE(watched.network.next());
  const Duration then = 4ms;
  watched.network.close(paced, then);
  watched.play();
  // Three quarters of the line for 4 ms, then the whole of it.
  EXPECT_NEAR(seconds(watched.left[1]), 4e-3 + (8e6 - 0.75 * line * 4e-3) / line, 1e-8);
  EXPECT_EQ(watched.left.count(0), 0U);
  EXPECT_NEAR(watched.network.figures(0).payload_bytes, line / 4 / 8 * 4e-3, 1);
  EXPECT_EQ(watched.network.connect(0, 1), paced);
  EXPECT_EQ(watched.network.arrived(paced, watched.left[1]), 0);
}

}  // namespace
}  // namespace tw::sim
