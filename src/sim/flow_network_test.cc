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

}  // namespace
}  // namespace tw::sim
