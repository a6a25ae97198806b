// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fabric/segments.h"

#include "trainwire/fabric/test_packets.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

namespace tw::fabric {
namespace {

constexpr std::uint8_t kAck = 0x10;
constexpr std::uint8_t kPsh = 0x08;
constexpr std::uint8_t kFin = 0x01;
constexpr std::uint8_t kCwr = 0x80;

Packet cut_out(const Packet& packet, int first, int count) {
  const Segments segments = describe(packet);
  Packet piece(cut_bytes(segments, first, count));
  cut(packet, segments, first, count, piece);
  return piece;
}

/// Payload bytes [from, from + count) as make_packet fills them.
Packet payload(int from, int count) {
  Packet bytes;
  for (int i = from; i < from + count; ++i) bytes.push_back(static_cast<std::uint8_t>(i % 251));
  return bytes;
}

Packet tail_of(const Packet& packet, std::size_t count) {
  return {packet.end() - static_cast<std::ptrdiff_t>(count), packet.end()};
}

TEST(Segments, APlainPacketIsOne) {
  const Segments segments = describe(make_packet({.payload = 100}));
  EXPECT_EQ(segments.count, 1);
  EXPECT_EQ(segments.wire_bytes(0), 154);  // 14 + 20 + 20 + 100
  EXPECT_EQ(segments.wire_bytes(), 154);
  EXPECT_TRUE(segments.is_ip);
  EXPECT_FALSE(describe(make_arp()).is_ip);
}

// 5000 bytes in segments of 1448: 3 full ones and 656 bytes, each behind 54 bytes of headers.
TEST(Segments, ASuperPacketIsAsManyAsItsPayloadNeeds) {
  const Segments segments = describe(make_packet({.payload = 5000, .segment = 1448}));
  EXPECT_EQ(segments.count, 4);
  EXPECT_EQ(segments.wire_bytes(0), 1502);
  EXPECT_EQ(segments.wire_bytes(3), 710);
  EXPECT_EQ(segments.wire_bytes(), 5000 + 4 * 54);
}

TEST(Segments, AnExactMultipleHasNoEmptySegment) {
  EXPECT_EQ(describe(make_packet({.payload = 2896, .segment = 1448})).count, 2);
  EXPECT_EQ(describe(make_packet({.payload = 1448, .segment = 1448})).count, 1);
}

TEST(Cut, TheMiddleOfATcpPacketHasItsOwnHeaders) {
  const Packet whole = make_packet({.payload = 5000,
                                    .segment = 1448,
                                    .flags = kAck | kPsh | kFin | kCwr,
                                    .sequence = 0xffffffff - 999});
  const Packet piece = cut_out(whole, 1, 2);
  const auto frame = frame_of(piece);
  const OffloadHeader offload = offload_header(piece);
  ASSERT_EQ(frame.size(), 54 + 2 * 1448);
  EXPECT_EQ(offload.kind, OffloadHeader::kTcp4);
  EXPECT_EQ(offload.segment_bytes, 1448);
  EXPECT_EQ(read16(frame, 16), 40 + 2 * 1448);  // IPv4 length
  EXPECT_EQ(read16(frame, 18), 7 + 1);          // identification of the second segment
  // The sequence number wraps: 2^32 - 1000 + 1448 = 448.
  EXPECT_EQ(read16(frame, 38) << 16 | read16(frame, 40), 448);
  EXPECT_EQ(frame[47], kAck);  // neither the first nor the last
  EXPECT_EQ(tail_of(piece, 2896), payload(1448, 2896));
}

TEST(Cut, FlagsStayWithTheirSegments) {
  const Packet whole =
      make_packet({.payload = 4000, .segment = 1000, .flags = kAck | kPsh | kFin | kCwr});
  EXPECT_EQ(frame_of(cut_out(whole, 0, 1))[47], kAck | kCwr);
  EXPECT_EQ(frame_of(cut_out(whole, 3, 1))[47], kAck | kPsh | kFin);
}

TEST(Cut, CongestionReportsStayWithTheFirst) {
  Packet whole = make_packet({.payload = 4000, .segment = 1000, .flags = kAck | kCwr});
  whole[1] |= OffloadHeader::kEcn;
  EXPECT_EQ(describe(whole).count, 4);
  EXPECT_EQ(offload_header(cut_out(whole, 0, 2)).kind, OffloadHeader::kTcp4 | OffloadHeader::kEcn);
  EXPECT_EQ(offload_header(cut_out(whole, 1, 2)).kind, OffloadHeader::kTcp4);
}

TEST(Cut, AUdpPieceHasItsOwnLength) {
  const Packet piece =
      cut_out(make_packet({.transport = Transport::Udp, .payload = 2500, .segment = 1000}), 1, 2);
  EXPECT_EQ(read16(frame_of(piece), 34 + 4), 8 + 1500);
  EXPECT_EQ(tail_of(piece, 1500), payload(1000, 1500));
}

TEST(Cut, ASingleSegmentIsAPlainPacket) {
  const Packet piece = cut_out(make_packet({.payload = 4000, .segment = 1000}), 2, 1);
  EXPECT_EQ(offload_header(piece).kind, OffloadHeader::kPlain);
  EXPECT_EQ(offload_header(piece).segment_bytes, 0);
  EXPECT_EQ(offload_header(piece).flags, OffloadHeader::kNeedsChecksum);
  EXPECT_EQ(describe(piece).count, 1);
}

TEST(Cut, AllOfItIsThePacketItself) {
  const Packet whole = make_packet({.payload = 4000, .segment = 1000, .flags = kPsh});
  EXPECT_EQ(cut_out(whole, 0, 4), whole);
  const Packet plain = make_packet({.payload = 40});
  EXPECT_EQ(cut_out(plain, 0, 1), plain);
}

TEST(Cut, EveryRunOfEveryKindHasTrueChecksums) {
  for (const int version : {4, 6}) {
    for (const Transport transport : {Transport::Tcp, Transport::Udp}) {
      for (const int size : {1, 999, 1000, 1001, 4500}) {
        const Packet whole = make_packet({.version = version,
                                          .transport = transport,
                                          .payload = size,
                                          .segment = 1000,
                                          .sequence = 0xfffffff0});
        const int count = describe(whole).count;
        ASSERT_EQ(count, (size + 999) / 1000);
        for (int first = 0; first < count; ++first) {
          for (int run = 1; first + run <= count; ++run) {
            Packet piece = cut_out(whole, first, run);
            complete_checksum(piece);
            EXPECT_TRUE(is_valid(piece)) << version << ' ' << size << ' ' << first << '+' << run;
          }
        }
      }
    }
  }
}

// The pieces of a cut hold the payload once, in order.
TEST(Cut, PiecesTogetherAreTheWhole) {
  const Packet whole = make_packet({.version = 6, .payload = 64'000, .segment = 1428});
  const Segments segments = describe(whole);
  Packet joined;
  for (int first = 0; first < segments.count; first += 7) {
    const int run = std::min(7, segments.count - first);
    const Packet piece = cut_out(whole, first, run);
    joined.insert(joined.end(), piece.begin() + kOffloadBytes + 74, piece.end());
  }
  EXPECT_EQ(joined, payload(0, 64'000));
}

TEST(Cut, RefusesWhatLiesOutside) {
  const Segments segments = describe(make_packet({.payload = 4000, .segment = 1000}));
  EXPECT_THROW(cut_bytes(segments, 3, 2), std::logic_error);
  EXPECT_THROW(cut_bytes(segments, -1, 1), std::logic_error);
  EXPECT_THROW(cut_bytes(segments, 0, 0), std::logic_error);
}

TEST(MarkCongestion, KeepsChecksumsTrue) {
  for (const int version : {4, 6}) {
    for (const std::uint8_t ecn : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}}) {
      Packet packet = make_packet({.version = version, .payload = 100, .ecn = ecn});
      ASSERT_TRUE(allows_marking(packet));
      mark_congestion(packet);
      complete_checksum(packet);
      EXPECT_TRUE(is_valid(packet));
      const auto frame = frame_of(packet);
      EXPECT_EQ(version == 4 ? frame[15] & 3 : frame[15] >> 4 & 3, 3);
    }
  }
}

TEST(MarkCongestion, IsForPacketsThatAllowIt) {
  Packet plain = make_packet({.payload = 100});
  EXPECT_FALSE(allows_marking(plain));
  EXPECT_FALSE(allows_marking(make_packet({.version = 6})));
  EXPECT_FALSE(allows_marking(make_arp()));
  EXPECT_THROW(mark_congestion(plain), std::logic_error);
}

TEST(HostilePackets, WithHeadersThatDisagreeAreNotCut) {
  const Packet good = make_packet({.payload = 4000, .segment = 1000});
  const auto with = [&](std::size_t at, std::uint8_t value) {
    Packet bad = good;
    bad[at] = value;
    return describe(bad).count;
  };
  EXPECT_EQ(with(0, 0), 1);                     // no checksum to complete
  EXPECT_EQ(with(1, OffloadHeader::kTcp6), 1);  // not the IP version
  EXPECT_EQ(with(1, OffloadHeader::kUdp), 1);   // not the protocol
  EXPECT_EQ(with(1, 77), 1);                    // unknown kind
  EXPECT_EQ(with(6, 38), 1);                    // checksum elsewhere
  EXPECT_EQ(with(8, 6), 1);                     // checksum field of UDP
  EXPECT_EQ(with(10 + 14, 0x44), 1);            // IPv4 header of 16 bytes
  EXPECT_EQ(with(10 + 14, 0x4f), 1);            // IPv4 header of 60 bytes, TCP is not there
  EXPECT_EQ(with(10 + 16, 1), 1);               // IPv4 length is not the frame's
  EXPECT_EQ(with(10 + 20, 0x20), 1);            // a fragment
  EXPECT_EQ(with(10 + 46, 0x40), 1);            // TCP header of 16 bytes
  EXPECT_EQ(with(10 + 13, 0x81), 1);            // not IP
  EXPECT_EQ(with(10 + 47, 0xff), 4);            // any flags are fine
  // A segment of 7 bytes would make 572 packets of one.
  Packet tiny = good;
  tiny[4] = 7;
  tiny[5] = 0;
  EXPECT_EQ(describe(tiny).count, 1);
}

TEST(HostilePackets, CutShortAnywhereAreSafe) {
  for (const int version : {4, 6}) {
    const Packet good = make_packet({.version = version, .payload = 40, .segment = 10, .ecn = 1});
    for (std::size_t size = 0; size < good.size(); ++size) {
      Packet packet(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_EQ(describe(packet).count, 1);
      if (allows_marking(packet)) mark_congestion(packet);
    }
  }
}

// Single bytes of a good packet replaced: whatever is cut has the length that was promised, and the
// segments' bytes add up. Sanitizers watch the rest.
TEST(HostilePackets, WithWrongBytesAreSafe) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 20'000; ++trial) {
    const int version = trial % 2 == 0 ? 4 : 6;
    const Transport transport = trial % 3 == 0 ? Transport::Udp : Transport::Tcp;
    Packet packet = make_packet(
        {.version = version, .transport = transport, .payload = 300, .segment = 40, .ecn = 2});
    for (int i = 0; i < 3; ++i) packet[random() % 90] = static_cast<std::uint8_t>(random());
    if (allows_marking(packet)) mark_congestion(packet);
    const Segments segments = describe(packet);
    std::int64_t sum = 0;
    for (int i = 0; i < segments.count; ++i) sum += segments.wire_bytes(i);
    EXPECT_EQ(sum, segments.wire_bytes());
    if (segments.count > 1) {
      EXPECT_EQ(describe(cut_out(packet, 1, segments.count - 1)).count, segments.count - 1);
    }
  }
}

}  // namespace
}  // namespace tw::fabric
