// SPDX-License-Identifier: Apache-2.0
#include "trainwire/packet/decode.h"

#include "trainwire/packet/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace tw::packet {
namespace {

const Address kA = parse_address("10.0.0.1");
const Address kB = parse_address("10.0.0.2");
const Address kA6 = parse_address("fd00::1");
const Address kB6 = parse_address("fd00::2");

/// One data segment with everything set, to be varied.
FrameSpec segment(const Address& from = kA, const Address& to = kB) {
  return {
      .source = from,
      .destination = to,
      .source_port = 5001,
      .destination_port = 29500,
      .tcp = {.sequence = 0xfffffff0, .acknowledgement = 77, .flags = kAck | kPsh, .window = 501},
      .payload_bytes = 1000,
      .identification = 4711,
      .ecn = 3};
}

struct Decoded {
  Packet packet;
  AddressTable addresses;
  std::string source() const { return addresses[packet.source].text(); }
  std::string destination() const { return addresses[packet.destination].text(); }
};

/// By decode(), which must agree with decode_any() in every byte, with addresses that are new to it
/// and with known ones.
Decoded decoded(std::span<const std::byte> bytes, std::uint32_t original,
                std::uint32_t link_type = 1) {
  const Record record{.bytes = bytes,
                      .original_bytes = original,
                      .time_ns = 5,
                      .interface = 2,
                      .link = link_of(link_type)};
  Decoded result;
  decode(record, result.addresses, result.packet);
  Packet again;
  decode(record, result.addresses, again);
  Packet any;
  decode_any(record, result.addresses, any);
  constexpr std::size_t kBytes = offsetof(Packet, distinction) + sizeof any.distinction;
  EXPECT_EQ(std::memcmp(&any, &result.packet, kBytes), 0);
  EXPECT_EQ(std::memcmp(&any, &again, kBytes), 0);
  return result;
}

Decoded decoded(const FrameSpec& spec) {
  const Frame frame = make_frame(spec);
  return decoded(frame.bytes, frame.original_bytes, spec.link_type);
}

void expect_the_segment(const Decoded& d, const std::string& what) {
  EXPECT_EQ(d.packet.verdict, Verdict::Tcp) << what;
  EXPECT_EQ(d.packet.source_port, 5001) << what;
  EXPECT_EQ(d.packet.destination_port, 29500) << what;
  EXPECT_EQ(d.packet.sequence, 0xfffffff0u) << what;
  EXPECT_EQ(d.packet.acknowledgement, 77u) << what;
  EXPECT_EQ(d.packet.tcp_flags, kAck | kPsh) << what;
  EXPECT_EQ(d.packet.window, 501) << what;
  EXPECT_EQ(d.packet.payload_bytes, 1000u) << what;
  EXPECT_EQ(d.packet.ecn, 3) << what;
  EXPECT_EQ(d.packet.ip_protocol, 6) << what;
  EXPECT_FALSE(d.packet.super_frame) << what;
}

TEST(Decode, FindsTheSegmentBehindEveryLinkLayer) {
  for (const std::uint32_t link_type : {1, 113, 276, 0, 108, 101, 12, 14, 228}) {
    FrameSpec spec = segment();
    spec.link_type = link_type;
    const Decoded d = decoded(spec);
    expect_the_segment(d, "link type " + std::to_string(link_type));
    EXPECT_EQ(d.source(), "10.0.0.1");
    EXPECT_EQ(d.destination(), "10.0.0.2");
    EXPECT_EQ(d.packet.identification, 4711);
  }
}

TEST(Decode, FindsIpv6BehindEveryLinkLayer) {
  for (const std::uint32_t link_type : {1, 113, 276, 0, 108, 101, 12, 14, 229}) {
    FrameSpec spec = segment(kA6, kB6);
    spec.link_type = link_type;
    const Decoded d = decoded(spec);
    expect_the_segment(d, "link type " + std::to_string(link_type));
    EXPECT_EQ(d.source(), "fd00::1");
    EXPECT_EQ(d.destination(), "fd00::2");
  }
}

TEST(Decode, KeepsTimeInterfaceAndLengths) {
  FrameSpec spec = segment();
  spec.snaplen = 60;
  const Packet packet = decoded(spec).packet;
  EXPECT_EQ(packet.time_ns, 5);
  EXPECT_EQ(packet.interface, 2);
  EXPECT_EQ(packet.wire_bytes, 1054u);
  EXPECT_EQ(packet.captured_bytes, 60u);
}

TEST(Decode, NeedsNoMoreThan54BytesOfAnEthernetFrame) {
  FrameSpec spec = segment();
  spec.snaplen = 54;
  expect_the_segment(decoded(spec), "untagged");
  // The tag leaves 16 bytes of the TCP header: all fields but checksum and urgent pointer.
  spec.vlans = {100};
  expect_the_segment(decoded(spec), "tagged");
  spec.snaplen = 53;
  EXPECT_EQ(decoded(spec).packet.verdict, Verdict::TooShort);
  EXPECT_EQ(decoded(spec).packet.destination_port, 29500);
}

TEST(Decode, LooksThroughVlanTags) {
  for (const std::vector<std::uint16_t>& vlans :
       {std::vector<std::uint16_t>{7}, {7, 8}, {7, 8, 9}, {7, 8, 9, 10}}) {
    FrameSpec spec = segment();
    spec.vlans = vlans;
    expect_the_segment(decoded(spec), std::to_string(vlans.size()) + " tags");
  }
  FrameSpec five = segment();
  five.vlans = {1, 2, 3, 4, 5};
  EXPECT_EQ(decoded(five).packet.verdict, Verdict::NotIp);
}

TEST(Decode, SkipsIpv4Options) {
  for (const std::uint32_t bytes : {4, 12, 40}) {
    FrameSpec spec = segment();
    spec.v4_option_bytes = bytes;
    expect_the_segment(decoded(spec), std::to_string(bytes));
  }
}

TEST(Decode, WalksIpv6ExtensionHeaders) {
  for (const std::vector<std::uint8_t>& extensions :
       {std::vector<std::uint8_t>{0}, {43}, {60}, {51}, {44}, {0, 60, 43, 44, 51, 60}}) {
    FrameSpec spec = segment(kA6, kB6);
    spec.extensions = extensions;
    expect_the_segment(decoded(spec), std::to_string(extensions.size()) + " headers");
  }
}

TEST(Decode, TellsLaterFragmentsFromFirstOnes) {
  FrameSpec first = segment();
  first.more_fragments = true;
  expect_the_segment(decoded(first), "first fragment");
  FrameSpec later = segment();
  later.fragment_offset = 1024;
  const Packet packet = decoded(later).packet;
  EXPECT_EQ(packet.verdict, Verdict::Fragment);
  EXPECT_EQ(packet.source_port, 0);
  EXPECT_EQ(packet.payload_bytes, 1000u);
  EXPECT_EQ(packet.identification, 4711);
  EXPECT_EQ(packet.distinction, 1024 / 8);
}

TEST(Decode, TellsIpv6FragmentsToo) {
  FrameSpec spec = segment(kA6, kB6);
  spec.extensions = {44};
  spec.more_fragments = true;
  expect_the_segment(decoded(spec), "first fragment");
  spec.fragment_offset = 1024;
  EXPECT_EQ(decoded(spec).packet.verdict, Verdict::Fragment);
  EXPECT_EQ(decoded(spec).packet.ip_protocol, 6);
  EXPECT_EQ(decoded(spec).packet.payload_bytes, 1000u);
  EXPECT_EQ(decoded(spec).packet.distinction, 1024 / 8);
}

TEST(Decode, DoesNotCountPaddingAsPayload) {
  // 54 bytes of headers in a frame of 60: six bytes of padding, which are no payload.
  FrameSpec spec = segment();
  spec.payload_bytes = 0;
  spec.least_bytes = 60;
  EXPECT_EQ(decoded(spec).packet.payload_bytes, 0u);
  EXPECT_EQ(decoded(spec).packet.wire_bytes, 60u);
  spec.payload_bytes = 4;
  EXPECT_EQ(decoded(spec).packet.payload_bytes, 4u);
}

TEST(Decode, TakesTheFrameLengthWhereIpStatesNone) {
  for (const bool v6 : {false, true}) {
    FrameSpec spec = v6 ? segment(kA6, kB6) : segment();
    spec.hide_ip_length = true;
    EXPECT_EQ(decoded(spec).packet.payload_bytes, 1000u) << v6;
    EXPECT_TRUE(decoded(spec).packet.super_frame) << v6;
    // 65,536 is the first length that 16 bits cannot hold.
    for (const std::uint32_t payload : {65'495u, 65'496u, 65'516u, 500'000u}) {
      spec.payload_bytes = payload;
      spec.hide_ip_length = false;
      spec.snaplen = 128;
      EXPECT_EQ(decoded(spec).packet.verdict, Verdict::Tcp) << payload;
      EXPECT_EQ(decoded(spec).packet.payload_bytes, payload) << v6;
      EXPECT_TRUE(decoded(spec).packet.super_frame) << payload;
    }
  }
}

TEST(Decode, CallsAFrameSuperWhenNoEquipmentForwardsIt) {
  // 9,216 bytes of IP in an untagged frame make 9,230.
  FrameSpec spec = segment();
  spec.payload_bytes = 9216 - 40;
  EXPECT_FALSE(decoded(spec).packet.super_frame);
  spec.payload_bytes = kLargestWireFrame - 54;
  EXPECT_FALSE(decoded(spec).packet.super_frame);
  spec.payload_bytes += 1;
  EXPECT_TRUE(decoded(spec).packet.super_frame);
}

TEST(Decode, CountsNoMorePayloadThanTheFrameHeld) {
  // 54 bytes of headers in a frame of 64, whatever IP promises.
  FrameSpec spec = segment();
  spec.snaplen = 64;
  const Frame frame = make_frame(spec);
  const Packet packet = decoded(frame.bytes, 64).packet;
  EXPECT_EQ(packet.payload_bytes, 10u);
  EXPECT_EQ(packet.wire_bytes, 64u);
}

TEST(Decode, ReadsTimestampsOfEverySegment) {
  FrameSpec spec = segment();
  spec.tcp.timestamps = TcpTimestamps{123456, 654321};
  EXPECT_EQ(decoded(spec).packet.timestamp_value, 123456u);
  EXPECT_EQ(decoded(spec).packet.timestamp_echo, 654321u);
  EXPECT_EQ(decoded(spec).packet.payload_bytes, 1000u);
  // One byte of the option cut off: as if absent.
  spec.snaplen = 65;
  EXPECT_EQ(decoded(spec).packet.timestamp_value, 0u);
  EXPECT_EQ(decoded(spec).packet.payload_bytes, 1000u);
}

TEST(Decode, ReadsScaleAndSegmentSizeOfASynOnly) {
  FrameSpec spec = segment();
  spec.tcp.flags = kSyn;
  spec.tcp.segment_bytes = 1460;
  spec.tcp.window_scale = 7;
  EXPECT_EQ(decoded(spec).packet.segment_bytes, 1460);
  EXPECT_EQ(decoded(spec).packet.window_scale, 8);
  spec.tcp.window_scale = 200;
  EXPECT_EQ(decoded(spec).packet.window_scale, 15) << "RFC 7323: at most 14";
  spec.tcp.flags = kAck;
  EXPECT_EQ(decoded(spec).packet.segment_bytes, 0);
  EXPECT_EQ(decoded(spec).packet.window_scale, 0);
}

TEST(Decode, ReadsOptionsBehindTheTimestamp) {
  // make_frame writes the segment size first; here the timestamp of a SYN is moved to the front.
  FrameSpec spec = segment();
  spec.tcp.flags = kSyn;
  spec.tcp.segment_bytes = 1460;
  spec.tcp.timestamps = TcpTimestamps{123456, 0};
  Frame frame = make_frame(spec);
  const auto options = frame.bytes.begin() + 54;
  std::rotate(options, options + 4, options + 16);
  EXPECT_EQ(decoded(frame.bytes, frame.original_bytes).packet.timestamp_value, 123456u);
  EXPECT_EQ(decoded(frame.bytes, frame.original_bytes).packet.segment_bytes, 1460);
}

TEST(TcpOptions, EndAtNonsense) {
  const auto bytes = [](std::initializer_list<int> values) {
    std::vector<std::byte> result;
    for (const int value : values) result.push_back(static_cast<std::byte>(value));
    return result;
  };
  // A length of 0 or 1 would never end; a length beyond the header, an option cut in two.
  for (const auto& options : {bytes({8, 0, 8, 10}), bytes({8, 1}), bytes({2, 4, 5}), bytes({8}),
                              bytes({0, 2, 4, 5, 6})}) {
    EXPECT_EQ(tcp_options(options, kSyn).segment_bytes, 0);
    EXPECT_EQ(tcp_options(options, kSyn).timestamp_value, 0u);
  }
}

TEST(Decode, ReadsUdp) {
  FrameSpec spec = segment();
  spec.transport = Transport::Udp;
  spec.payload_bytes = 300;
  spec.snaplen = 42;
  const Packet packet = decoded(spec).packet;
  EXPECT_EQ(packet.verdict, Verdict::Udp);
  EXPECT_EQ(packet.destination_port, 29500);
  EXPECT_EQ(packet.payload_bytes, 300u);
  spec.snaplen = 41;
  EXPECT_EQ(decoded(spec).packet.verdict, Verdict::TooShort);
}

TEST(Decode, ReadsRocev2In54Bytes) {
  FrameSpec spec = segment();
  spec.transport = Transport::Rocev2;
  spec.rdma = {.opcode = 0x0a, .sequence = 0x123456, .queue_pair = 0xabcdef};
  spec.payload_bytes = 1022;
  spec.snaplen = 54;
  const Packet packet = decoded(spec).packet;
  EXPECT_EQ(packet.verdict, Verdict::Rocev2);
  EXPECT_EQ(packet.destination_port, 4791);
  EXPECT_EQ(packet.tcp_flags, 0x0a);
  EXPECT_EQ(packet.sequence, 0x123456u);
  EXPECT_EQ(packet.acknowledgement, 0xabcdefu);
  EXPECT_EQ(packet.payload_bytes, 1022u);
  // Ethernet 14, IP 20, UDP 8, base 12, remote address 16, message 1022, padding 2, checksum 4.
  EXPECT_EQ(packet.wire_bytes, 1098u);
  spec.snaplen = 53;
  EXPECT_EQ(decoded(spec).packet.verdict, Verdict::Udp);
}

TEST(Decode, JudgesWhatIsNotTcpOrUdp) {
  Frame frame = make_frame(segment());
  frame.bytes[23] = std::byte{1};  // ICMP
  EXPECT_EQ(decoded(frame.bytes, frame.original_bytes).packet.verdict, Verdict::OtherIp);
  EXPECT_EQ(decoded(frame.bytes, frame.original_bytes).packet.ip_protocol, 1);
  frame.bytes[12] = std::byte{0x08};
  frame.bytes[13] = std::byte{0x06};  // ARP
  const Packet arp = decoded(frame.bytes, frame.original_bytes).packet;
  EXPECT_EQ(arp.verdict, Verdict::NotIp);
  EXPECT_EQ(arp.source, 0u);
  EXPECT_EQ(decoded(frame.bytes, frame.original_bytes, 105).packet.verdict, Verdict::UnknownLink);
}

TEST(Decode, JudgesContradictionsMalformed) {
  const Frame good = make_frame(segment());
  // Byte 14: version and header words; 16-17: IP length; 46: TCP header words.
  const auto with = [&](std::size_t at, int value, std::size_t at2 = 0, int value2 = 2) {
    std::vector<std::byte> bytes = good.bytes;
    bytes[at] = static_cast<std::byte>(value);
    bytes[at2] = static_cast<std::byte>(value2);
    return decoded(bytes, good.original_bytes).packet.verdict;
  };
  EXPECT_EQ(with(14, 0x65), Verdict::Malformed) << "version 6 behind EtherType IPv4";
  EXPECT_EQ(with(14, 0x44), Verdict::Malformed) << "header of 16 bytes";
  EXPECT_EQ(with(16, 0, 17, 19), Verdict::Malformed) << "19 bytes in all, 20 of them header";
  EXPECT_EQ(with(46, 0x40), Verdict::Malformed) << "TCP header of 16 bytes";
  EXPECT_EQ(with(16, 0, 17, 39), Verdict::Malformed) << "IP leaves 19 bytes for TCP";
}

TEST(Decode, TakesTheQuickWayForOrdinarySegmentsBetweenKnownAddresses) {
  FrameSpec spec = segment();
  AddressTable addresses;
  Packet packet;
  const auto quickly = [&] {
    const Frame frame = make_frame(spec);
    return decode_common({.bytes = frame.bytes,
                          .original_bytes = frame.original_bytes,
                          .time_ns = 0,
                          .interface = 0,
                          .link = Link::Ethernet},
                         addresses, packet);
  };
  addresses.number_of(kA);
  EXPECT_FALSE(quickly()) << "the destination is new";
  addresses.number_of(kB);
  EXPECT_TRUE(quickly());
  spec.tcp.timestamps = TcpTimestamps{1, 2};
  EXPECT_TRUE(quickly());
  EXPECT_EQ(packet.timestamp_value, 1u);
  spec.snaplen = 54;
  EXPECT_TRUE(quickly()) << "no option was captured";
  spec.snaplen = 56;
  EXPECT_FALSE(quickly()) << "which option it is was cut off";
  spec.snaplen = 60;
  EXPECT_TRUE(quickly()) << "the timestamp is cut off";
  EXPECT_EQ(packet.timestamp_value, 0u);
}

TEST(Decode, FindsTheTimestampOnlyWhereAllOfItWasCaptured) {
  FrameSpec spec = segment();
  spec.tcp.timestamps = TcpTimestamps{1, 2};
  // 14 + 20 + 20 bytes of headers, then two no-operations and ten bytes of timestamp.
  for (spec.snaplen = 50; spec.snaplen < 70; ++spec.snaplen) {
    EXPECT_EQ(decoded(spec).packet.timestamp_echo, spec.snaplen >= 66 ? 2u : 0u) << spec.snaplen;
  }
}

TEST(Decode, GivesAVerdictForEveryPrefixOfEveryFrame) {
  FrameSpec spec = segment(kA6, kB6);
  spec.extensions = {0, 44, 60};
  spec.tcp.timestamps = TcpTimestamps{1, 2};
  for (const std::uint32_t link_type : {1, 113, 276, 0, 108, 101, 12, 14, 229}) {
    spec.link_type = link_type;
    const Frame frame = make_frame(spec);
    bool was_tcp = false;
    for (std::size_t n = 0; n <= 160; ++n) {
      // A copy of exactly n bytes lets the address sanitizer see a read beyond.
      const std::vector<std::byte> prefix(frame.bytes.begin(),
                                          frame.bytes.begin() + static_cast<std::ptrdiff_t>(n));
      const Verdict verdict = decoded(prefix, frame.original_bytes, link_type).packet.verdict;
      EXPECT_TRUE(verdict == Verdict::Tcp || (verdict == Verdict::TooShort && !was_tcp))
          << link_type << ' ' << n;
      was_tcp = verdict == Verdict::Tcp;
    }
    EXPECT_TRUE(was_tcp);
  }
}

}  // namespace
}  // namespace tw::packet
