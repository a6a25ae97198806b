// SPDX-License-Identifier: Apache-2.0
#include "trainwire/packet/tunnel.h"

#include "trainwire/packet/decode.h"
#include "trainwire/packet/frame.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace tw::packet {
namespace {

using Bytes = std::vector<std::byte>;

void append(Bytes& to, std::initializer_list<int> bytes) {
  for (const int each : bytes) to.push_back(static_cast<std::byte>(each));
}
void append(Bytes& to, const Bytes& bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

/// A segment of 100 bytes from 10.1.0.1 to 10.1.0.2, as a whole frame.
Bytes inner_frame() {
  return make_frame({.source = parse_address("10.1.0.1"),
                     .destination = parse_address("10.1.0.2"),
                     .source_port = 5001,
                     .destination_port = 29500,
                     .tcp = {.sequence = 17},
                     .payload_bytes = 100,
                     .identification = 99})
      .bytes;
}
Bytes inner_ip() {
  const Bytes frame = inner_frame();
  return {frame.begin() + 14, frame.end()};
}

/// An IPv4 header of 20 bytes from 192.168.0.1 to 192.168.0.2 around it, in Ethernet.
Bytes in_ip(int protocol, const Bytes& payload, int ecn = 0) {
  Bytes made(12);
  append(made, {0x08, 0x00});
  const int length = 20 + static_cast<int>(payload.size());
  append(made, {0x45, ecn, length >> 8, length & 255, 0, 1, 0, 0, 64, protocol, 0, 0});
  append(made, {192, 168, 0, 1, 192, 168, 0, 2});
  append(made, payload);
  return made;
}
Bytes in_udp(int port, const Bytes& payload) {
  Bytes made;
  const int length = 8 + static_cast<int>(payload.size());
  append(made, {0xd0, 0x01, port >> 8, port & 255, length >> 8, length & 255, 0, 0});
  append(made, payload);
  return made;
}
Bytes behind(std::initializer_list<int> header, const Bytes& payload) {
  Bytes made;
  append(made, header);
  append(made, payload);
  return made;
}

struct Seen {
  Packet packet;
  std::string source;
};
Seen seen(const Bytes& frame) {
  AddressTable addresses;
  Seen made;
  decode({.bytes = frame,
          .original_bytes = static_cast<std::uint32_t>(frame.size()),
          .time_ns = 1,
          .interface = 0,
          .link = Link::Ethernet},
         addresses, made.packet);
  made.source = addresses[made.packet.source].text();
  return made;
}

void expect_inner(const Bytes& frame, const std::string& what) {
  const Seen found = seen(frame);
  EXPECT_EQ(found.packet.verdict, Verdict::Tcp) << what;
  EXPECT_EQ(found.source, "10.1.0.1") << what;
  EXPECT_EQ(found.packet.destination_port, 29500) << what;
  EXPECT_EQ(found.packet.sequence, 17U) << what;
  EXPECT_EQ(found.packet.payload_bytes, 100U) << what;
  EXPECT_EQ(found.packet.identification, 99) << what;
  EXPECT_EQ(found.packet.wire_bytes, frame.size()) << what;  // the wire carries the tunnel too
}

Bytes vxlan(const Bytes& frame) {
  return in_ip(17, in_udp(4789, behind({8, 0, 0, 0, 0, 0, 42, 0}, frame)));
}

TEST(Tunnel, TheInnerPacketIsThePacket) {
  expect_inner(vxlan(inner_frame()), "VXLAN");
  expect_inner(in_ip(17, in_udp(8472, behind({8, 0, 0, 0, 0, 0, 42, 0}, inner_frame()))), "Linux");
  // Two words of options.
  expect_inner(
      in_ip(17, in_udp(6081, behind({2, 0, 0x65, 0x58, 0, 0, 42, 0, 1, 2, 3, 4, 5, 6, 7, 8},
                                    inner_frame()))),
      "Geneve");
  expect_inner(in_ip(47, behind({0, 0, 0x08, 0x00}, inner_ip())), "GRE");
  // Checksum, key and sequence number: twelve bytes.
  expect_inner(
      in_ip(47, behind({0xb0, 0, 0x65, 0x58, 1, 2, 0, 0, 0, 0, 0, 7, 0, 0, 0, 9}, inner_frame())),
      "GRE with a key");
  expect_inner(
      in_ip(47, behind({0x10, 0, 0x88, 0xbe, 0, 0, 0, 9, 1, 2, 3, 4, 5, 6, 7, 8}, inner_frame())),
      "ERSPAN II");
  expect_inner(in_ip(47, behind({0, 0, 0x88, 0xbe}, inner_frame())), "ERSPAN I");
  expect_inner(in_ip(4, inner_ip()), "IP in IP");
  expect_inner(vxlan(vxlan(inner_frame())), "VXLAN in VXLAN");
}

TEST(Tunnel, WhatCarriesNoPacketStaysWhatItIs) {
  // Without the flag, with a body that is no frame, and a fourth tunnel inside three.
  EXPECT_EQ(seen(in_ip(17, in_udp(4789, behind({0, 0, 0, 0, 0, 0, 42, 0}, inner_frame()))))
                .packet.verdict,
            Verdict::Udp);
  const Seen arp = seen(in_ip(17, in_udp(4789, behind({8, 0, 0, 0, 0, 0, 42, 0}, Bytes(60)))));
  EXPECT_EQ(arp.packet.verdict, Verdict::Udp);
  EXPECT_EQ(arp.source, "192.168.0.1");
  EXPECT_EQ(arp.packet.payload_bytes, 68U);
  EXPECT_EQ(seen(vxlan(vxlan(vxlan(vxlan(inner_frame()))))).packet.destination_port, 4789);
  EXPECT_EQ(seen(in_ip(47, behind({0, 1, 0x88, 0x0b}, inner_ip()))).packet.verdict,
            Verdict::OtherIp);  // PPTP
}

TEST(Tunnel, CutAnywhereIsTheOuterOrTheInnerPacket) {
  const Bytes whole = vxlan(inner_frame());
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    AddressTable addresses;
    Packet packet;
    decode({.bytes = std::span(whole).first(cut),
            .original_bytes = static_cast<std::uint32_t>(whole.size()),
            .time_ns = 1,
            .interface = 0,
            .link = Link::Ethernet},
           addresses, packet);
    // 50 bytes of tunnel, 34 to the inner TCP header, 16 of it that are needed.
    if (cut >= 50 + 34 + 16) {
      EXPECT_EQ(packet.verdict, Verdict::Tcp) << cut;
      EXPECT_EQ(packet.payload_bytes, 100U) << cut;
    } else {
      EXPECT_NE(packet.verdict, Verdict::Tcp) << cut;
    }
  }
}

TEST(Tunnel, AMarkOnTheWayIsKept) {
  const Bytes marked = in_ip(17, in_udp(4789, behind({8, 0, 0, 0, 0, 0, 42, 0}, inner_frame())), 3);
  EXPECT_EQ(seen(marked).packet.ecn, 3);
}

}  // namespace
}  // namespace tw::packet
