// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/duplicates.h"

#include "trainwire/capture/ladder.h"

#include <gtest/gtest.h>

#include <string_view>

namespace tw::gather {
namespace {

std::size_t kept(std::string_view text, const capture::LadderOptions& options = {}) {
  std::vector<packet::Packet> packets = capture::ladder_packets(text, options).packets;
  Duplicates duplicates;
  const std::size_t left = duplicates.drop(packets);
  EXPECT_EQ(left + duplicates.dropped(), packets.size());
  return left;
}

TEST(Duplicates, AreDroppedFromACaptureThatShowsEveryPacketTwice) {
  EXPECT_EQ(kept(R"(
      0.000000  a > b  1:1001  id 1
      0.000001  a > b  1001:2001  id 2
      0.000005  a > b  1:1001  id 1
      0.000006  a > b  1001:2001  id 2
      0.000100  b > a  ack 2001  id 9
      0.000105  b > a  ack 2001  id 9)"),
            3u);
}

TEST(Duplicates, AreDroppedWhenThreeInterfacesSawThem) {
  EXPECT_EQ(kept(R"(
      0.000000  a > b  1:1001  id 1
      0.000001  a > b  1:1001  id 1
      0.000002  a > b  1:1001  id 1
      0.000010  a > b  1001:2001  id 2
      0.000011  a > b  1001:2001  id 2
      0.000012  a > b  1001:2001  id 2)"),
            2u);
}

TEST(Duplicates, AreNotRetransmissions) {
  // Linux gives a retransmission a new identification; and 200 ms are no copy in any case.
  EXPECT_EQ(kept("0 a > b 1:1001 id 1\n0.0001 a > b 1:1001 id 2\n0.0002 a > b 1:1001 id 3"), 3u);
  EXPECT_EQ(kept("0 a > b 1:1001 id 1\n0.2 a > b 1:1001 id 1\n0.4 a > b 1:1001 id 1"), 3u);
}

TEST(Duplicates, AreNotEqualAcknowledgementsWithoutIdentification) {
  // Three duplicate acknowledgements in IPv6 ask for a fast retransmission.
  EXPECT_EQ(kept("0 a > b ack 5\n0 a > b ack 5\n0 a > b ack 5", {.v6 = true}), 3u);
}

TEST(Duplicates, AreNotEqualDatagramsWithoutIdentification) {
  EXPECT_EQ(kept("0 a > b udp 9\n0 a > b udp 9\n0 a > b udp 9"), 3u);
}

/// Twenty datagrams of one length and identification, each recorded twice.
std::vector<packet::Packet> twice(packet::Verdict verdict) {
  std::vector<packet::Packet> packets;
  for (std::uint16_t i = 0; i < 40; ++i) {
    packet::Packet one{};
    one.source = 1;
    one.destination = 2;
    one.payload_bytes = 1480;
    one.identification = 7;
    one.ip_protocol = 17;
    one.verdict = verdict;
    one.time_ns = i;
    one.distinction = static_cast<std::uint16_t>(100 + i / 2);
    packets.push_back(one);
  }
  return packets;
}

TEST(Duplicates, AreToldByTheChecksumOfDatagramsWithOneIdentification) {
  // Some stacks number every datagram alike.
  std::vector<packet::Packet> packets = twice(packet::Verdict::Udp);
  EXPECT_EQ(Duplicates().drop(packets), 20u);
}

TEST(Duplicates, AreNotTheFragmentsOfOneDatagram) {
  // One whole copy shows that this capture has them; fragments differ in their place alone.
  std::vector<packet::Packet> packets = twice(packet::Verdict::Udp);
  const std::vector<packet::Packet> fragments = twice(packet::Verdict::Fragment);
  packets.insert(packets.end(), fragments.begin(), fragments.end());
  EXPECT_EQ(Duplicates().drop(packets), 40u);
}

TEST(Duplicates, AreLeftAloneWhenTheyAreRare) {
  // Two copies among forty packets: the network did that, not the capture.
  std::string text;
  for (int i = 0; i < 38; ++i) {
    text += "0 a > b " + std::to_string(100 * i + 1) + ":" + std::to_string(100 * i + 101) + "\n";
  }
  EXPECT_EQ(kept(text + "0 a > b 1:101\n0 a > b 101:201"), 40u);
}

}  // namespace
}  // namespace tw::gather
