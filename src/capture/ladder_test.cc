// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/ladder.h"

#include "trainwire/base/error.h"
#include "trainwire/capture/reader.h"

#include <gmock/gmock.h>

namespace tw::capture {
namespace {

TEST(Ladder, PutsRelativeNumbersOntoTheWireAtAnyInitialSequenceNumber) {
  for (const std::uint32_t isn : kTryingIsns) {
    const auto [packets, addresses] = ladder_packets(R"(
        0.000  a > b  S  mss 1460 wscale 7
        0.001  b > a  S  ack 1
        0.002  a > b  1:1001
        0.003  b > a  ack 1001
        0.004  a > b  F)",
                                                     {.isn = isn, .reply_isn = isn + 5});
    ASSERT_EQ(packets.size(), 5u);
    EXPECT_EQ(packets[0].sequence, isn);
    EXPECT_EQ(packets[0].tcp_flags, packet::kSyn);
    EXPECT_EQ(packets[0].window_scale, 8);
    EXPECT_EQ(packets[1].sequence, isn + 5);
    EXPECT_EQ(packets[1].acknowledgement, isn + 1);
    EXPECT_EQ(packets[1].tcp_flags, packet::kSyn | packet::kAck);
    EXPECT_EQ(packets[2].sequence, isn + 1);
    EXPECT_EQ(packets[2].payload_bytes, 1000u);
    EXPECT_EQ(packets[2].acknowledgement, isn + 5 + 1);
    EXPECT_EQ(packets[3].acknowledgement, isn + 1001);
    EXPECT_EQ(packets[3].sequence, isn + 5 + 1);
    EXPECT_EQ(packets[4].sequence, isn + 1001);
    EXPECT_EQ(packets[4].tcp_flags, packet::kFin | packet::kAck);
  }
}

TEST(Ladder, RepeatsTheLastAcknowledgementUnlessToldAnother) {
  const auto ladder = ladder_packets(R"(
      0  a > b  1:101
      0  b > a  ack 51
      0  b > a  1:11)",
                                     {.isn = 0});
  EXPECT_EQ(ladder.packets[2].acknowledgement, 51u);
}

TEST(Ladder, CountsTimesFromTheStartOrFromTheLineBefore) {
  const auto ladder = ladder_packets(
      "1.5 a > b 1:2\n+0.000000001 a > b 2:3 # soon\n\n0.2 a > b 3:4", {.start_ns = 10});
  EXPECT_EQ(ladder.packets[0].time_ns, 1'500'000'010);
  EXPECT_EQ(ladder.packets[1].time_ns, 1'500'000'011);
  EXPECT_EQ(ladder.packets[2].time_ns, 200'000'010);
}

TEST(Ladder, GivesHostsAddressesAndPorts) {
  const auto ladder = ladder_packets("0 a.6000 > c 1:2");
  EXPECT_EQ(ladder.packets[0].source, ladder.host('a'));
  EXPECT_EQ(ladder.packets[0].destination, ladder.host('c'));
  EXPECT_EQ(ladder.addresses[ladder.host('c')].text(), "10.0.0.3");
  EXPECT_EQ(ladder.packets[0].source_port, 6000);
  EXPECT_EQ(ladder.packets[0].destination_port, 5001);
  EXPECT_THROW(ladder.host('z'), std::logic_error);
  const auto v6 = ladder_packets("0 b > a 1:2", {.v6 = true});
  EXPECT_EQ(v6.addresses[v6.host('b')].text(), "fd00::2");
}

TEST(Ladder, WritesEveryItem) {
  const auto ladder = ladder_packets(R"(
      0  a > b  PEC 1:11 win 9 ts 100 50 ecn 3 id 4711 vlan 7 vlan 8
      0  a.1 > b.2  udp 500
      0  a > b  roce 10 77 5 4096
      0  a > b  .)");
  const packet::Packet& tcp = ladder.packets[0];
  EXPECT_EQ(tcp.tcp_flags, packet::kAck | packet::kPsh | packet::kEce | packet::kCwr);
  EXPECT_EQ(tcp.window, 9);
  EXPECT_EQ(tcp.timestamp_value, 100u);
  EXPECT_EQ(tcp.timestamp_echo, 50u);
  EXPECT_EQ(tcp.ecn, 3);
  EXPECT_EQ(tcp.identification, 4711);
  EXPECT_EQ(tcp.wire_bytes, 14u + 8 + 20 + 32 + 10);
  EXPECT_EQ(ladder.packets[1].verdict, packet::Verdict::Udp);
  EXPECT_EQ(ladder.packets[1].payload_bytes, 500u);
  EXPECT_EQ(ladder.packets[2].verdict, packet::Verdict::Rocev2);
  EXPECT_EQ(ladder.packets[2].sequence, 77u);
  EXPECT_EQ(ladder.packets[2].acknowledgement, 5u);
  EXPECT_EQ(ladder.packets[2].payload_bytes, 4096u);
  EXPECT_EQ(ladder.packets[3].tcp_flags, packet::kAck);
}

TEST(Ladder, NamesTheWrongLine) {
  for (const char* wrong :
       {"x a > b 1:2", "0 a b 1:2", "0 A > b 1:2", "0 a > b 5:2", "0 a > b what", "0 a > b ack",
        "0 a:1 > b 1:2", "0 a > b ack -1", "0 a.99999 > b 1:2", "0 a > b 1:9999999", "0 a >"}) {
    EXPECT_THAT([&] { ladder(std::string("\n") + wrong); },
                testing::ThrowsMessage<SpecError>(testing::HasSubstr("ladder line 2: ")))
        << wrong;
  }
}

TEST(LadderPcap, IsReadBackToTheSamePackets) {
  constexpr std::string_view kText = "0 a > b S\n0.001 b > a S ack 1\n0.002 a > b 1:1449 ts 1 2";
  const auto bytes = ladder_pcap(kText, {.snaplen = 54});
  std::vector<packet::Packet> packets(10);
  const auto reader = read_capture(bytes, "ladder");
  ASSERT_EQ(reader->read(packets), 3u);
  EXPECT_EQ(packets[2].payload_bytes, 1448u);
  EXPECT_EQ(packets[2].captured_bytes, 54u);
  EXPECT_EQ(packets[2].time_ns, ladder_packets(kText).packets[2].time_ns);
}

}  // namespace
}  // namespace tw::capture
