// SPDX-License-Identifier: Apache-2.0
// Groups at both levels, against closed forms and each other.

#include "trainwire/medium/flow_network.h"
#include "trainwire/medium/packet_network.h"
#include "trainwire/spec/parse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>

namespace tw::medium {
namespace {

using namespace std::chrono_literals;

enum class Kind { Fluid, Packets };

/// A network, and what became of the messages on it.
struct Net {
  Net(Kind kind, const std::string& text) {
    const spec::Network asked =
        spec::parse("[network]\n" + text, "x.toml", spec::Vocabulary{}, {}).network;
    Told told{.left = [this](Tag tag, Duration now) { left[tag] = now; },
              .came = [this](Tag tag, Duration now) { came[tag] = now; }};
    if (kind == Kind::Fluid) {
      medium = std::make_unique<FlowNetwork>(asked, std::move(told));
    } else {
      medium = std::make_unique<PacketNetwork>(asked, 1, std::move(told));
    }
  }
  /// A message of each member; tags are from `first` on.
  void send(int group, int members, std::int64_t bytes, Tag first = 0, Duration now = 0s) {
    for (int i = 0; i < members; ++i) {
      medium->send_in_group(group, i, bytes, first + static_cast<Tag>(i), now);
    }
  }
  void play() {
    while (const auto next = medium->next()) medium->advance(*next);
  }
  double last_s() const {
    Duration last = {};
    for (const auto& [tag, at] : came) last = std::max(last, at);
    return seconds(last);
  }
  double payload(int port) const { return medium->figures(port).payload_bytes; }

  std::map<Tag, Duration> left;
  std::map<Tag, Duration> came;
  std::unique_ptr<Medium> medium;
};

class Groups : public ::testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Levels, Groups, ::testing::Values(Kind::Fluid, Kind::Packets));

constexpr std::int64_t kBytes = 14'480'000;
constexpr double kPacket_s = 1514 * 8 / 1e9;
constexpr double kLine_s = 10'000 * kPacket_s;  // 1 Gbit/s

// Whatever the number of members, each link carries the bytes once: to 0.1 %.
TEST_P(Groups, TakeTheTimeOfOneMessage) {
  for (const bool sums : {true, false}) {
    Net net(GetParam(), "hosts = 9\ndelay = \"10us\"");
    net.send(net.medium->join({.sums = sums, .hub = 8, .members = {0, 1, 2, 3, 4, 5, 6, 7}}), 8,
             kBytes);
    net.play();
    EXPECT_EQ(net.came.size(), 8U);
    EXPECT_NEAR(net.last_s(), kLine_s, 0.001 * kLine_s);
    for (int host = 0; host < 9; ++host) {
      const bool sends = (host == 8) != sums;
      EXPECT_NEAR(net.payload(2 * host + (sends ? 0 : 1)), kBytes, 1) << host;
      EXPECT_NEAR(net.payload(2 * host + (sends ? 1 : 0)), 0, 1) << host;
    }
  }
}

// A hub at a quarter of the rate sets the pace: four times the time, to 1 %, and nothing is dropped.
TEST_P(Groups, TheSlowestLinkSetsThePace) {
  for (const bool sums : {true, false}) {
    Net net(GetParam(),
            "hosts = 5\ndelay = \"10us\"\n[[network.link]]\nat = \"host4\"\nrate = \"250Mbit\"");
    net.send(net.medium->join({.sums = sums, .hub = 4, .members = {0, 1, 2, 3}}), 4, kBytes);
    net.play();
    EXPECT_NEAR(net.last_s(), 4 * kLine_s, 0.01 * 4 * kLine_s);
    for (int port = 0; port < 10; ++port) EXPECT_EQ(net.medium->figures(port).dropped, 0);
  }
}

// One receiver of a multicast at a tenth of the rate has all others wait.
TEST_P(Groups, TheSlowestReceiverSetsThePace) {
  Net net(GetParam(),
          "hosts = 5\ndelay = \"10us\"\n[[network.link]]\nat = \"host2\"\nrate = \"100Mbit\"");
  net.send(net.medium->join({.hub = 4, .members = {0, 1, 2, 3}}), 4, kBytes);
  net.play();
  EXPECT_NEAR(seconds(net.came[2]), 10 * kLine_s, 0.01 * 10 * kLine_s);
  EXPECT_NEAR(seconds(net.left[0]), 10 * kLine_s, 0.02 * 10 * kLine_s);
}

// 16 packets for each round trip of 4 ms, two lines' time for a packet and an answer: to 2 %, as
// packets that are sent at once wait for one another.
TEST_P(Groups, SlotsBoundTheRate) {
  for (const bool sums : {true, false}) {
    Net net(GetParam(), "hosts = 3\ndelay = \"1ms\"");
    net.send(net.medium->join({.sums = sums, .hub = 2, .members = {0, 1}, .slots = 16}), 2,
             kBytes / 10);
    net.play();
    const double round_trip_s = 4e-3 + 2 * (1514 + 66) * 8 / 1e9;
    const double expected = 1000 / 16.0 * round_trip_s;
    EXPECT_NEAR(net.last_s(), expected, 0.05 * expected);
  }
}

// What is late by 50 ms comes later by as much, to a millisecond: the others have waited.
TEST_P(Groups, SumsWaitForTheLast) {
  Net net(GetParam(), "hosts = 4\ndelay = \"10us\"");
  const int group = net.medium->join({.sums = true, .hub = 3, .members = {0, 1, 2}});
  net.medium->send_in_group(group, 0, kBytes, 0, 0s);
  net.medium->send_in_group(group, 1, kBytes, 1, 0s);
  while (net.medium->next() && *net.medium->next() < 50ms) net.medium->advance(*net.medium->next());
  net.medium->send_in_group(group, 2, kBytes, 2, 50ms);
  net.play();
  EXPECT_NEAR(net.last_s(), 0.05 + kLine_s, 1e-3);
}

// 1 % on each of eight links and the hub's: 1 - 0.99^9 = 8.6 % of the packets are sent again, by
// all. Both levels within 4 %; nothing comes twice.
TEST_P(Groups, LossCostsWhatIsSentAgain) {
  for (const bool sums : {true, false}) {
    Net net(GetParam(), "hosts = 9\ndelay = \"10us\"\nloss = 0.01");
    net.send(net.medium->join({.sums = sums, .hub = 8, .members = {0, 1, 2, 3, 4, 5, 6, 7}}), 8,
             kBytes);
    net.play();
    EXPECT_EQ(net.came.size(), 8U);
    const double expected = kLine_s / (1 - 0.0865);
    EXPECT_NEAR(net.last_s(), expected, 0.04 * expected) << sums;
  }
}

// Behind two leaves: each link of the tree once, the spines' as well.
TEST_P(Groups, GoOnceOverACore) {
  for (const bool sums : {true, false}) {
    Net net(GetParam(),
            "topology = \"leafspine\"\nhosts = 8\nleaves = 2\nspines = 2\ndelay = \"10us\"");
    net.send(net.medium->join({.sums = sums, .hub = 0, .members = {1, 2, 3, 4, 5, 6, 7}}), 7,
             kBytes);
    net.play();
    EXPECT_NEAR(net.last_s(), kLine_s, 0.002 * kLine_s);
    double core = 0;
    for (int port = 16; port < net.medium->network().ports(); ++port) core += net.payload(port);
    EXPECT_NEAR(core, 2 * kBytes, 1);  // one link up, one down
  }
}

// Half of a line is a stream's that does not end: the group's message takes twice as long, within
// a third, as shares follow windows.
TEST_P(Groups, StreamsShareTheirPorts) {
  Net net(GetParam(), "hosts = 4\ndelay = \"100us\"");
  net.medium->send(net.medium->connect(0, 3), 100'000'000, 99, 0s);
  net.send(net.medium->join({.sums = true, .hub = 3, .members = {1, 2}}), 2, kBytes);
  net.play();
  EXPECT_NEAR(seconds(net.came[0]), 2 * kLine_s, 0.67 * kLine_s);
}

// Two groups that want 64 slots each of 64: half of the slots each. By packets those that find none
// are passed on, which costs the hub's link what was not summed; both lie between once and three
// times the time that the slots allow one of them.
TEST_P(Groups, ShareSlots) {
  Net net(GetParam(), "hosts = 6\ndelay = \"1ms\"");
  const GroupRequest one{
      .sums = true, .hub = 4, .members = {0, 1}, .slots = 64, .switch_slots = 64};
  GroupRequest other = one;
  other.hub = 5;
  other.members = {2, 3};
  net.send(net.medium->join(one), 2, kBytes / 10);
  net.send(net.medium->join(other), 2, kBytes / 10, 100);
  net.play();
  EXPECT_EQ(net.came.size(), 4U);
  const double alone = 1000 / 64.0 * 4.02e-3;
  EXPECT_GT(net.last_s(), alone);
  EXPECT_LT(net.last_s(), 3 * alone);
}

// A link that is down for a second costs a second, and by packets the time until that is noticed.
TEST_P(Groups, GoOnWhenALinkIsUpAgain) {
  Net net(GetParam(), "hosts = 4\ndelay = \"10us\"");
  net.send(net.medium->join({.sums = true, .hub = 3, .members = {0, 1, 2}}), 3, kBytes);
  const network::Request up = net.medium->network().request(0);
  network::Request down = up;
  down.rate = BitRate();
  const auto until = [&](Duration at) {
    while (net.medium->next() && *net.medium->next() < at) net.medium->advance(*net.medium->next());
  };
  until(50ms);
  net.medium->alter(0, down, 50ms);
  until(1050ms);
  net.medium->alter(0, up, 1050ms);
  net.play();
  EXPECT_EQ(net.came.size(), 3U);
  EXPECT_GT(net.last_s(), 1 + kLine_s - 1e-3);
  EXPECT_LT(net.last_s(), 2 + kLine_s);
}

TEST_P(Groups, EqualSeedsGiveEqualTimes) {
  const auto times = [&] {
    Net net(GetParam(), "hosts = 5\nloss = 0.01");
    const int group = net.medium->join({.sums = true, .hub = 4, .members = {0, 1, 2, 3}});
    for (Tag i = 0; i < 5; ++i) net.send(group, 4, 100'001, 10 * i);
    net.play();
    return net.came;
  };
  EXPECT_EQ(times(), times());
}

}  // namespace
}  // namespace tw::medium
