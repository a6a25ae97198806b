// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/table.h"

#include "trainwire/flow/test_ladders.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace tw::flow {
namespace {

using packet::Packet;
using packet::Verdict;

constexpr std::int64_t kMs = 1'000'000;

/// One of 154 bytes, 100 of them payload, from address 1 to 2 without ports.
Packet packet_at(std::int64_t time_ns, Verdict verdict) {
  Packet packet{};
  packet.time_ns = time_ns;
  packet.source = 1;
  packet.destination = 2;
  packet.wire_bytes = 154;
  packet.payload_bytes = 100;
  packet.tcp_flags = packet::kAck;
  packet.ip_protocol = verdict == Verdict::Tcp ? 6 : 17;
  packet.verdict = verdict;
  return packet;
}

TEST(FlowTable, PutsBothDirectionsIntoOneConnection) {
  at_every_isn("0 a.1000 > b.2000 1:101\n0.001 b.2000 > a.1000 ack 101",
               [](const Followed& followed) {
                 ASSERT_EQ(followed.view.flows.size(), 2u);
                 EXPECT_EQ(followed.flow('a', 'b').key.source_port, 1000);
                 EXPECT_EQ(followed.flow('b', 'a').key.source_port, 2000);
                 // The acknowledgement found the data: a round trip of 1 ms.
                 EXPECT_EQ(followed.flow('a', 'b').round_trips.least_ns, kMs);
               });
}

TEST(FlowTable, KeepsConnectionsOfOtherPortsApart) {
  const Followed followed = follow("0 a.1 > b.2 1:11\n0 a.2 > b.1 1:21\n0 a.1 > b.3 1:31");
  EXPECT_EQ(followed.flows('a', 'b').size(), 3u);
}

TEST(FlowTable, StartsAnewAtASynWithAnotherNumber) {
  // The second SYN is 7,000 numbers on: another connection, whether or not a FIN was seen.
  for (const char* end : {"F", ".", "R"}) {
    const std::string text = std::string("0 a > b S\n0.1 a > b 1:1001\n0.2 a > b ") + end +
                             "\n0.3 a > b S 7000:7000\n0.4 a > b 7001:7101";
    at_every_isn(text, [](const Followed& followed) {
      const std::vector<Flow> flows = followed.flows('a', 'b');
      ASSERT_EQ(flows.size(), 2u);
      EXPECT_EQ(flows[0].stream_bytes(), 1000u);
      EXPECT_EQ(flows[1].stream_bytes(), 100u);
    });
  }
}

TEST(FlowTable, TakesARepeatedSynForTheSameConnection) {
  at_every_isn("0 a > b S\n1 a > b S\n1.1 b > a S ack 1\n1.2 a > b 1:101",
               [](const Followed& followed) {
                 EXPECT_EQ(followed.flows('a', 'b').size(), 1u);
                 // Nobody knows which SYN was answered: no sample of it.
                 EXPECT_EQ(followed.flow('a', 'b').round_trips.count, 0u);
               });
}

TEST(FlowTable, StartsAnewAtASynAfterTheMiddleOfAnother) {
  at_every_isn("0 b > a 5001:6001\n0.1 a > b S\n0.2 b > a S 9000:9000 ack 1",
               [](const Followed& followed) { EXPECT_EQ(followed.flows('b', 'a').size(), 2u); });
}

TEST(FlowTable, KeepsASilentTcpConnectionTogetherButNotUdp) {
  const Followed tcp = follow("0 a > b 1:101\n500 a > b 101:201");
  EXPECT_EQ(tcp.flows('a', 'b').size(), 1u);
  EXPECT_EQ(tcp.flow('a', 'b').longest_pause_ns, 500'000 * kMs);
  EXPECT_EQ(follow("0 a > b udp 100\n500 a > b udp 100").flows('a', 'b').size(), 2u);
}

TEST(FlowTable, TimesRoundTripsByKarnsRule) {
  // The first segment is repeated before it is acknowledged, so only the second is a sample.
  at_every_isn(R"(
      0.000  a > b  1:1001
      0.200  a > b  1:1001
      0.210  b > a  ack 1001
      0.300  a > b  1001:2001
      0.305  b > a  ack 2001)",
               [](const Followed& followed) {
                 const RoundTrips& trips = followed.flow('a', 'b').round_trips;
                 EXPECT_EQ(trips.count, 1u);
                 EXPECT_EQ(trips.sum_ns, 5 * kMs);
               });
}

TEST(FlowTable, TimesTheHandshake) {
  at_every_isn("0 a > b S\n0.030 b > a S ack 1\n0.031 a > b . ack 1", [](const Followed& followed) {
    EXPECT_EQ(followed.flow('a', 'b').round_trips.least_ns, 30 * kMs);
    EXPECT_EQ(followed.flow('b', 'a').round_trips.least_ns, kMs);
  });
}

TEST(FlowTable, WaitsForTheAcknowledgementThatCoversTheData) {
  at_every_isn("0 a > b 1:1001\n0.001 b > a ack 500\n0.002 b > a ack 1001",
               [](const Followed& followed) {
                 EXPECT_EQ(followed.flow('a', 'b').round_trips.least_ns, 2 * kMs);
               });
}

TEST(FlowTable, CountsCongestionMarks) {
  at_every_isn(
      "0 a > b 1:101 ecn 3\n0.1 a > b 101:201 ecn 2\n0.2 a > b 201:301 ecn 3",
      [](const Followed& followed) { EXPECT_EQ(followed.flow('a', 'b').marked_packets, 2u); });
}

TEST(FlowTable, SeparatesBurstsByPauses) {
  // Pauses of 0.1 ms join, one of 20 ms separates.
  at_every_isn(R"(
      0.0000  a > b  1:1001
      0.0001  a > b  1001:2001
      0.0201  a > b  2001:3001)",
               [](const Followed& followed) {
                 const Flow flow = followed.flow('a', 'b');
                 ASSERT_EQ(flow.bursts.size(), 2u);
                 EXPECT_EQ(flow.bursts[0].bytes, 2000u);
                 EXPECT_EQ(flow.bursts[0].end_ns - flow.bursts[0].start_ns, 100'000);
                 EXPECT_EQ(flow.bursts[1].packets, 1u);
                 EXPECT_EQ(flow.longest_pause_ns, 20 * kMs);
               });
}

TEST(FlowTable, FollowsUdp) {
  const Followed followed = follow("0 a.1 > b.2 udp 500\n0.001 b.2 > a.1 udp 300");
  EXPECT_EQ(followed.flow('a', 'b').stream_bytes(), 500u);
  EXPECT_EQ(followed.flow('b', 'a').payload_bytes, 300u);
  EXPECT_EQ(followed.flow('a', 'b').key.protocol, 17);
}

TEST(FlowTable, KeysRocev2ByQueuePair) {
  // Source ports differ only to spread packets over paths; queue pairs 77 and 78 are two flows, and
  // the answer to queue pair 5 a third.
  const Followed followed = follow(R"(
      0.000  a.4001 > b.4791  roce 10 1 77 1024
      0.001  a.4002 > b.4791  roce 10 2 77 1024
      0.002  a.4003 > b.4791  roce 10 9 78 1024
      0.003  b.4001 > a.4791  roce 17 2 5 0)");
  const std::vector<Flow> flows = followed.flows('a', 'b');
  ASSERT_EQ(flows.size(), 2u);
  EXPECT_EQ(flows[0].key.queue_pair, 77u + 1);
  EXPECT_EQ(flows[0].packets, 2u);
  EXPECT_EQ(followed.flow('b', 'a').acknowledgement_packets, 1u);
  EXPECT_TRUE(flows[0].key.is_rocev2());
}

TEST(FlowTable, CountsRepeatedRocev2PacketsAcrossTheWrap) {
  // 16,777,215 is the last number; 0 follows; 16,777,215 and 0 come again.
  const Followed followed = follow(R"(
      0.000  a > b  roce 7 16777214 77 1000
      0.001  a > b  roce 7 16777215 77 1000
      0.002  a > b  roce 7 0 77 1000
      0.003  a > b  roce 7 16777215 77 1000
      0.004  a > b  roce 7 0 77 1000
      0.005  a > b  roce 7 1 77 1000)");
  const Flow flow = followed.flow('a', 'b');
  EXPECT_EQ(flow.retransmitted_packets, 2u);
  EXPECT_EQ(flow.stream_bytes(), 4000u);
}

TEST(FlowTable, TakesALateRocev2PacketForNew) {
  const Followed followed =
      follow("0 a > b roce 7 5 77 100\n0.1 a > b roce 7 7 77 100\n0.2 a > b roce 7 6 77 100");
  EXPECT_EQ(followed.flow('a', 'b').retransmitted_packets, 0u);
}

TEST(FlowTable, CountsPacketsThatGoBackInTime) {
  const Followed followed = follow("0.5 a > b 1:101\n0.1 a > b 101:201\n0.6 a > b 201:301");
  EXPECT_EQ(followed.view.totals.backward_times, 1u);
  const Flow flow = followed.flow('a', 'b');
  EXPECT_EQ(flow.last_ns - flow.first_ns, 500 * kMs);
  EXPECT_EQ(followed.view.totals.last_ns - followed.view.totals.first_ns, 500 * kMs);
}

TEST(FlowTable, CountsEveryIpPacketInOnePair) {
  std::vector<Packet> packets;
  const std::array verdicts{Verdict::Tcp,      Verdict::Udp,      Verdict::Rocev2, Verdict::OtherIp,
                            Verdict::Fragment, Verdict::TooShort, Verdict::NotIp};
  for (const Verdict verdict : verdicts) packets.push_back(packet_at(0, verdict));
  packets[6].source = packets[6].destination = 0;
  FlowTable table;
  table.take(packets);
  const View view = view_of(table);
  expect_conservation(view);
  // All but the one without addresses.
  ASSERT_EQ(view.pairs.size(), 1u);
  EXPECT_EQ(view.pairs[0].packets, 6u);
  EXPECT_EQ(view.pairs[0].by_verdict[static_cast<std::size_t>(Verdict::Fragment)], 1u);
  EXPECT_EQ(view.flows.size(), 3u);
}

/// `count` connections, one packet of 100 bytes each, a microsecond apart.
std::vector<Packet> strangers(std::uint32_t count) {
  std::vector<Packet> packets;
  for (std::uint32_t i = 0; i < count; ++i) {
    packets.push_back(packet_at(1000 * std::int64_t{i}, Verdict::Tcp));
    packets.back().source = 1 + i % 1000;
    packets.back().destination = 2000 + i / 1000;
    packets.back().source_port = static_cast<std::uint16_t>(i);
  }
  return packets;
}

TEST(FlowTable, KeepsNoMoreConnectionsThanItsBudget) {
  constexpr std::uint32_t kPackets = 300'000;
  std::uint64_t retired = 0;
  FlowTable table({.most_connections = 1024}, [&](const Flow& flow) { retired += flow.packets; });
  const std::vector<Packet> packets = strangers(kPackets);
  for (std::size_t i = 0; i < packets.size(); i += 1000) {
    table.take(std::span(packets).subspan(i, 1000));
    ASSERT_LE(table.live_connections(), 1024u);
  }
  const View view = view_of(table);
  expect_conservation(view);
  // Every packet is in a kept flow or was handed over; all are in the pairs.
  std::uint64_t kept = 0;
  for (const Flow& flow : view.flows) kept += flow.packets;
  EXPECT_EQ(kept + retired, kPackets);
  EXPECT_LE(view.flows.size(), 4096u + 2 * 1024u);
  std::uint64_t counted = 0;
  for (const PairCount& pair : view.pairs) counted += pair.packets;
  EXPECT_EQ(counted, kPackets);
}

TEST(FlowTable, RaisesTheThresholdOfSmallnessWhenAllConnectionsAreLarge) {
  // 64 connections of 100,000 bytes are alive at most, so the others are retired although large.
  FlowTable table({.most_connections = 64});
  std::vector<Packet> packets = strangers(20'000);
  for (Packet& packet : packets) packet.payload_bytes = 100'000;
  table.take(packets);
  EXPECT_LE(table.live_connections(), 64u);
  expect_conservation(view_of(table));
}

TEST(FlowTable, FoldsWindowsToItsBudget) {
  // A packet every 2 ms for 20 s: 10,000 windows of 1 ms; 1,000 are allowed (and as many again in
  // the total), so widths double until 20 s / width <= 500: to 64 ms.
  FlowTable table({.most_windows = 1000});
  std::vector<Packet> packets;
  for (std::int64_t i = 0; i < 10'000; ++i) packets.push_back(packet_at(2 * kMs * i, Verdict::Udp));
  for (std::size_t i = 0; i < packets.size(); i += 100) {
    table.take(std::span(packets).subspan(i, 100));
  }
  const View view = view_of(table);
  expect_conservation(view);
  EXPECT_EQ(view.clock.width_ns, 64 * kMs);
  EXPECT_LE(view.flows[0].series.windows().size(), 500u);
}

TEST(FlowTable, KeepsWindowsInOrderWhenLatePacketsFollowAFold) {
  // As above, but every tenth packet is 7 ms late: it belongs some windows before the last one, at
  // every width.
  FlowTable table({.most_windows = 1000});
  for (std::int64_t i = 0; i < 10'000; ++i) {
    const std::int64_t time_ns = 2 * kMs * i - (i % 10 == 9 ? 7 * kMs : 0);
    table.take(std::vector{packet_at(time_ns, Verdict::Udp)});
  }
  const View view = view_of(table);
  expect_conservation(view);
  EXPECT_EQ(view.clock.width_ns, 64 * kMs);
  const auto& windows = view.flows[0].series.windows();
  EXPECT_TRUE(std::is_sorted(windows.begin(), windows.end(), [](const Window& a, const Window& b) {
    return a.index <= b.index;
  })) << "an index twice or before a smaller one";
}

TEST(FlowTable, JoinsBurstsToItsBudget) {
  // 1,000 bursts 2 ms apart; 100 are allowed: the gap doubles from 0.5 ms to 2 ms, which joins all.
  FlowTable table({.most_bursts = 100});
  std::vector<Packet> packets;
  for (std::int64_t i = 0; i < 1000; ++i) packets.push_back(packet_at(2 * kMs * i, Verdict::Udp));
  for (std::size_t i = 0; i < packets.size(); i += 50) {
    table.take(std::span(packets).subspan(i, 50));
  }
  const View view = view_of(table);
  expect_conservation(view);
  EXPECT_EQ(view.burst_gap_ns, 2 * kMs);
  EXPECT_EQ(view.flows[0].bursts.size(), 1u);
}

TEST(FlowTable, SurvivesTimesAtTheEndsOfTheWorld) {
  std::vector<Packet> packets = strangers(4);
  packets[1].time_ns = std::numeric_limits<std::int64_t>::max();
  packets[2].time_ns = std::numeric_limits<std::int64_t>::min();
  FlowTable table({.most_windows = 1});
  table.take(packets);
  expect_conservation(view_of(table));
}

}  // namespace
}  // namespace tw::flow
