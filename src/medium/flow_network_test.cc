// SPDX-License-Identifier: Apache-2.0
#include "trainwire/medium/flow_network.h"

#include "trainwire/base/error.h"
#include "trainwire/base/random.h"
#include "trainwire/spec/parse.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tw::medium {
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
  explicit Watched(const std::string& text, const FlowOptions& options = {.tcp = false})
      : network(network_of(text),
                {.left = [this](Tag tag, Duration now) { left[tag] = now; },
                 .came = [this](Tag tag, Duration now) { came[tag] = now; },
                 .began = [this](Tag tag, Duration now) { began[tag] = now; }},
                options) {}
  void play() {
    while (const auto next = network.next()) {
      ASSERT_TRUE(network.certified());
      network.advance(*next);
    }
  }

  std::map<Tag, Duration> left;
  std::map<Tag, Duration> came;
  std::map<Tag, Duration> began;
  FlowNetwork network;
};

// 1 MB that nobody reads: 64 KiB are in the receiver's socket until somebody does.
TEST(FlowNetwork, WhatNobodyReadsWaitsBeforeAFullSocket) {
  Watched watched("hosts = 2\nrate = \"100Mbit\"", {});
  const int connection = watched.network.connect(0, 1, {.is_read_in_turn = true});
  watched.network.send(connection, 1'000'000, 1, 0s);
  watched.play();
  EXPECT_FALSE(watched.came.contains(1));
  EXPECT_NEAR(static_cast<double>(watched.network.arrived(connection, 1s)), 65536, 1);
  watched.network.reads(connection, 1s);
  watched.play();
  EXPECT_NEAR(seconds(watched.came[1]), 1 + 0.934 * 0.08 * 1514 / 1448, 0.01);
}

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

// Both wait before the receiver's line: that its own one is slower makes a stream no lighter there.
TEST(FlowNetwork, AStreamsOwnSlowLineMakesItNoLighter) {
  Watched watched(
      "hosts = 3\nrate = \"300Mbit\"\nqueue = \"1MB\"\nallow_shallow_queue = true\n"
      "[[network.link]]\nat = \"host1\"\ndirection = \"from_host\"\nrate = \"150Mbit\"",
      {});
  watched.network.send(watched.network.connect(0, 2), 20'000'000, 0, 0s);
  watched.network.send(watched.network.connect(1, 2), 20'000'000, 1, 0s);
  watched.play();
  EXPECT_NEAR(seconds(watched.came[0]) / seconds(watched.came[1]), 1, 0.05);
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

/// When a stream of half the line's rate has sent its hundredth piece, if another has the line for a while.
double last_piece_s(std::int64_t bytes_of_other) {
  Watched watched("hosts = 3\ndelay = \"50us\"", {.tcp = true});
  const double line = 1e9 * 1448 / 1514;
  const int paced = watched.network.connect(0, 2, {.pace = BitRate(line / 2)});
  for (Tag piece = 0; piece < 100; ++piece) watched.network.send(paced, 100'000, piece, 0s);
  if (bytes_of_other > 0) {
    watched.network.send(watched.network.connect(0, 2), bytes_of_other, 100, 0s);
    watched.network.send(watched.network.connect(0, 2), bytes_of_other, 101, 0s);
  }
  watched.play();
  return seconds(watched.left[99]);
}

// What it was held up for it makes up for, as the program does that has its pace.
TEST(FlowNetwork, AStreamThatWasHeldUpMakesUpForIt) {
  const double alone_s = last_piece_s(0);
  EXPECT_GT(alone_s, 0.16);
  EXPECT_NEAR(last_piece_s(2'000'000), alone_s, 0.01 * alone_s);
}

// The second message passes on the first: it begins when the first frame is there and ends when all
// of it is, however fast its own line.
TEST(FlowNetwork, WhatPassesOnIsNeverAheadOfWhatComes) {
  Watched watched(
      "hosts = 3\n[[network.link]]\nat = \"host0\"\nrate = \"100Mbit\"\ndirection = \"from_host\"");
  const int first = watched.network.connect(0, 1);
  const int second = watched.network.connect(1, 2);
  watched.network.send_on(first, 1'000'000, 0, {}, 0s);
  while (watched.began.empty()) watched.network.advance(*watched.network.next());
  EXPECT_EQ(watched.began[0], Bytes(1514) / 100_Mbit + watched.network.travelling(first));
  const std::vector<Tag> behind{0};
  watched.network.send_on(second, 1'000'000, 1, behind, watched.began[0]);
  watched.play();
  EXPECT_EQ(watched.left[1], watched.came[0]);
  EXPECT_EQ(watched.came[1] - watched.left[1], watched.network.travelling(second));
}

/// Messages between hosts in their numbers' order, or in another.
struct Drawn {
  int from, to;
  std::int64_t bytes;
  Duration at;
};

std::vector<Drawn> drawn_messages() {
  Random random(1, "messages");
  std::vector<Drawn> all;
  for (int i = 0; i < 200; ++i) {
    const auto from = static_cast<int>(random.below(5));
    all.push_back({.from = from,
                   .to = (from + 1 + static_cast<int>(random.below(4))) % 5,
                   .bytes = static_cast<std::int64_t>(random.below(300'000)),
                   .at = Duration(1'000'000 * i)});
  }
  return all;
}

void play_drawn(Watched& watched, const std::vector<int>& host, std::int64_t times) {
  Tag tag = 0;
  for (const Drawn& each : drawn_messages()) {
    for (auto next = watched.network.next(); next && *next < each.at;
         next = watched.network.next()) {
      watched.network.advance(*next);
    }
    const int from = host[static_cast<std::size_t>(each.from)];
    const int to = host[static_cast<std::size_t>(each.to)];
    watched.network.send(watched.network.connect(from, to), times * each.bytes, tag++, each.at);
  }
  watched.play();
}

// Every port of a star has what its host sent, or what was sent to it.
TEST(FlowNetwork, BytesAreConserved) {
  Watched watched("hosts = 5\nrate = \"100Mbit\"\ndelay = \"1ms\"", {.tcp = true});
  play_drawn(watched, {0, 1, 2, 3, 4}, 1);
  std::vector<double> bytes(10);
  for (const Drawn& each : drawn_messages()) {
    bytes[static_cast<std::size_t>(2 * each.from)] += static_cast<double>(each.bytes);
    bytes[static_cast<std::size_t>(2 * each.to + 1)] += static_cast<double>(each.bytes);
  }
  EXPECT_EQ(watched.came.size(), 200U);
  for (int port = 0; port < 10; ++port) {
    EXPECT_NEAR(watched.network.figures(port).payload_bytes, bytes[static_cast<std::size_t>(port)],
                1);
  }
}

TEST(FlowNetwork, TimesDoNotDependOnNames) {
  const char* text = "hosts = 5\nrate = \"100Mbit\"\ndelay = \"1ms\"";
  Watched plain(text, {.tcp = true});
  Watched renamed(text, {.tcp = true});
  play_drawn(plain, {0, 1, 2, 3, 4}, 1);
  play_drawn(renamed, {3, 1, 4, 0, 2}, 1);
  for (const auto& [tag, at] : plain.came) {
    EXPECT_NEAR(seconds(at), seconds(renamed.came[tag]), 1e-7) << tag;
  }
}

// Ten times the bytes at ten times the rate, but for the time of a frame.
TEST(FlowNetwork, TimesDoNotDependOnTheScale) {
  Watched plain("hosts = 5\nrate = \"100Mbit\"\ndelay = \"1ms\"");
  Watched scaled("hosts = 5\nrate = \"1Gbit\"\ndelay = \"1ms\"");
  play_drawn(plain, {0, 1, 2, 3, 4}, 1);
  play_drawn(scaled, {0, 1, 2, 3, 4}, 10);
  for (const auto& [tag, at] : plain.left) {
    EXPECT_NEAR(seconds(at), seconds(scaled.left[tag]), 1e-6) << tag;
  }
}

// 10 ms a link: windows of 10 and 20 segments take a round trip each before the rest can leave; trains
// of two are answered as a whole.
TEST(FlowNetwork, AStreamHasToFindItsRate) {
  Watched watched("hosts = 2\ndelay = \"10ms\"", {.tcp = true});
  const int connection = watched.network.connect(0, 1);
  watched.network.send(connection, 40 * 1448, 0, 0s);
  watched.play();
  const double frame_s = 8 * 1514 / 1e9;
  const double leaves_s = 2 * (40e-3 + 3 * frame_s) + 10 * frame_s;
  EXPECT_NEAR(seconds(watched.came[0]), leaves_s + 20e-3 + frame_s, 1e-6);
}

// 128 KiB of memory hold 109,226 bytes, of which the kernel keeps those that are on their way: at
// 100 Mbit/s and 4 ms the path has 47,820 bytes and a frame of them.
TEST(FlowNetwork, WhatTheKernelHasTakenHasLeft) {
  Watched watched("hosts = 2\nrate = \"100Mbit\"\ndelay = \"1ms\"", {.tcp = true});
  const int connection = watched.network.connect(0, 1);
  watched.network.send(connection, 5'000'000, 0, 0s);
  watched.network.send(connection, 30'000, 1, 0s);
  watched.play();
  const double rate = 12.5e6 * 1448 / 1514;
  const double on_its_way = rate * (4e-3 + 2 * 1514 / 12.5e6);
  const double path_s = 2e-3 + 1514 / 12.5e6;
  EXPECT_NEAR(seconds(watched.came[0] - watched.left[0]),
              (128 * 1024 / 1.2 - on_its_way) / rate + path_s, 1e-4);
  // The next one waits until there is room for it too; the window grows meanwhile.
  EXPECT_NEAR(seconds(watched.left[1] - watched.left[0]), 30'000 / rate, 0.2 * 30'000 / rate);
}

// 110 kB at the line's rate from two hosts at once leave 110 kB in the queue; where one is two thirds through, a third of that.
TEST(FlowNetwork, ABurstFindsWhatIsLeftOfAnother) {
  const auto last = [](Duration later) {
    Watched watched(
        "hosts = 3\nrate = \"100Mbit\"\ndelay = \"5ms\"\nqueue = \"64KB\"\n"
        "allow_shallow_queue = true\ncongestion_control = \"reno\"",
        {.tcp = true});
    std::vector<int> connections;
    for (const int from : {0, 1}) {  // windows open
      connections.push_back(watched.network.connect(from, 2));
      watched.network.send(connections.back(), 400'000, static_cast<Tag>(from), from * 150ms);
      watched.play();
    }
    constexpr Duration kBegin = 310ms;
    watched.network.send(connections[0], 110'000, 2, kBegin);
    while (*watched.network.next() < kBegin + later) {
      watched.network.advance(*watched.network.next());
    }
    watched.network.send(connections[1], 110'000, 3, kBegin + later);
    watched.play();
    return std::max(watched.came[2], watched.came[3]) - kBegin;
  };
  EXPECT_LT(last(6ms), 35ms);  // 18.4 ms of the line, and 10 of the way
  EXPECT_GT(last(0ms), 40ms);
}

// Who begins in step would stay so for ever; packets of messages that fit into a queue part as well.
TEST(FlowNetwork, UnevenStreamsDoNotEndTogether) {
  Watched watched("hosts = 3\nrate = \"50Mbit\"\ndelay = \"1ms\"", {.tcp = true});
  for (const int from : {0, 1}) {
    const int connection = watched.network.connect(from, 2, {.uneven = true});
    watched.network.send(connection, 80'000, static_cast<Tag>(from), 0s);
  }
  watched.play();
  const Duration apart = watched.came[1] - watched.came[0];
  EXPECT_GT(std::abs(seconds(apart)), 1e-3);
}

// Acknowledgements wait behind what fills the line that they go back on: under loss, where windows are
// small, a stream has less while the other host sends as well.
TEST(FlowNetwork, AnswersWaitForWhatGoesBack) {
  const auto arrived = [](bool goes_back) {
    Watched watched(
        "hosts = 2\nrate = \"300Mbit\"\ndelay = \"100us\"\ncongestion_control = "
        "\"reno\"\n[[network.link]]\nat = \"host1\"\ndirection = \"to_host\"\nloss = 0.02",
        {.tcp = true});
    const int there = watched.network.connect(0, 1);
    const int back = watched.network.connect(1, 0);
    watched.network.send(there, 200'000'000, 0, 0s);
    if (goes_back) watched.network.send(back, 200'000'000, 1, 0s);
    while (*watched.network.next() < 3s) watched.network.advance(*watched.network.next());
    return static_cast<double>(watched.network.arrived(there, 3s));
  };
  EXPECT_LT(arrived(true), 0.8 * arrived(false));
}

// Losses cut no window of BBR, and none is a claim: who has sent for long has no more than who begins.
TEST(FlowNetwork, WhoSendsByBbrForLongHasNoMore) {
  Watched watched(
      "hosts = 3\nrate = \"100Mbit\"\ndelay = \"1ms\"\nloss = \"0.1%\"\ncongestion_control = "
      "\"bbr\"",
      {.tcp = true});
  watched.network.send(watched.network.connect(0, 2), 2'000'000'000, 0, 0s);
  while (*watched.network.next() < 60s) watched.network.advance(*watched.network.next());
  const int late = watched.network.connect(1, 2);
  watched.network.send(late, 200'000'000, 1, 60s);
  while (*watched.network.next() < 62s) watched.network.advance(*watched.network.next());
  const double half = 2 * 100e6 / 8 * 1448 / 1514 / 2;
  EXPECT_NEAR(static_cast<double>(watched.network.arrived(late, 62s)), half, 0.1 * half);
}

// Two round trips compete for one port, with a queue of 20 ms at the port counted as half full:
// 8 and 44 ms are as 18 and 54.
TEST(FlowNetwork, ShortRoundTripsHaveMore) {
  Watched watched(
      "hosts = 3\nrate = \"100Mbit\"\ndelay = \"2ms\"\nqueue = \"250kB\"\n"
      "allow_shallow_queue = true\n[[network.link]]\nat = \"host1\"\ndelay = \"20ms\"",
      {.tcp = true});
  const int near = watched.network.connect(0, 2);
  const int far = watched.network.connect(1, 2);
  watched.network.send(near, 300'000'000, 0, 0s);
  watched.network.send(far, 300'000'000, 1, 0s);
  while (*watched.network.next() < 20s) watched.network.advance(*watched.network.next());
  const double ratio = static_cast<double>(watched.network.arrived(near, 20s)) /
                       static_cast<double>(watched.network.arrived(far, 20s));
  EXPECT_NEAR(ratio, 54.0 / 18, 0.2);
}

/// When messages over a path that loses something are there.
std::map<Tag, Duration> came_over_loss(std::uint64_t seed) {
  Watched watched("hosts = 2\nrate = \"100Mbit\"\ndelay = \"1ms\"\nloss = \"1%\"", {.seed = seed});
  const int connection = watched.network.connect(0, 1);
  for (Tag tag = 0; tag < 50; ++tag) {
    watched.network.send_on(connection, 100'000, tag, {}, 0s);
  }
  watched.play();
  EXPECT_EQ(watched.network.arrived(connection, 100s), 50 * 100'000);
  return watched.came;
}

// The line alone would carry them in 0.42 s, two losses in a hundred allow a window of 9 segments.
TEST(FlowNetwork, LossCostsTimeAsTheSeedSays) {
  const std::map<Tag, Duration> came = came_over_loss(1);
  EXPECT_EQ(came.size(), 50U);
  EXPECT_GT(came.at(49), 1s);
  EXPECT_LT(came.at(49), 5s);
  for (Tag tag = 1; tag < 50; ++tag) EXPECT_GE(came.at(tag), came.at(tag - 1));
  EXPECT_EQ(came, came_over_loss(1));
  EXPECT_NE(came, came_over_loss(2));
}

// Lost tails of short messages are noticed by what follows, of which the tail may be lost as well.
TEST(FlowNetwork, ShortMessagesComeInOrderWhateverIsLost) {
  Watched watched("hosts = 2\ndelay = \"1ms\"\nloss = \"10%\"", {.seed = 1});
  const int connection = watched.network.connect(0, 1);
  for (Tag tag = 0; tag < 500; ++tag) watched.network.send(connection, 3'000, tag, 0s);
  watched.play();
  ASSERT_EQ(watched.came.size(), 500U);
  for (Tag tag = 1; tag < 500; ++tag) EXPECT_GE(watched.came.at(tag), watched.came.at(tag - 1));
}

// What passes on what loses waits for what was lost: it takes longer, and still all of it comes.
TEST(FlowNetwork, HolesArePassedOnAsPauses) {
  Watched watched(
      "hosts = 3\nrate = \"100Mbit\"\ndelay = \"5ms\"\n[[network.link]]\nat = \"host0\"\n"
      "loss = \"0.5%\"",
      {.seed = 3});
  const int first = watched.network.connect(0, 1);
  const int second = watched.network.connect(1, 2);
  watched.network.send_on(first, 2'000'000, 0, {}, 0s);
  while (watched.began.empty()) watched.network.advance(*watched.network.next());
  const std::vector<Tag> behind{0};
  watched.network.send_on(second, 2'000'000, 1, behind, watched.began[0]);
  watched.play();
  EXPECT_GE(watched.left[1], watched.came[0]);
  EXPECT_EQ(watched.network.arrived(second, 100s), 2'000'000);
}

}  // namespace
}  // namespace tw::medium
