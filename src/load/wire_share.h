// SPDX-License-Identifier: Apache-2.0
// How much of a link's capacity is payload, so that "80 % of the link" is 80 % of what it carries.
//
// Rates of loads, requested and achieved, count bytes that applications send. A link counts frames,
// with their Ethernet header of 14 bytes, as the emulated links do and as captures show them. A
// full TCP segment over IPv4 with an MTU of 1500 has 1448 bytes of payload (20 of IP, 20 of TCP,
// 12 of timestamps are not) in a frame of 1514: a link of 1 Gbit/s carries 956.4 Mbit/s of payload.
//
// Limits: small flows fill their segments less; a real Ethernet adds 24 bytes a frame that no
// interface counts (checksum, preamble, gap); acknowledgements load the other direction.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/spec/experiment.h"

namespace tw::load {

struct Framing {
  int mtu = 1500;
  int ip_version = 4;
};

inline constexpr int kEthernetHeader = 14;
inline constexpr int kTcpHeader = 32;  ///< with its timestamps
inline constexpr int kUdpHeader = 8;
constexpr int ip_header(int ip_version) { return ip_version == 6 ? 40 : 20; }

/// Bytes of payload in a full packet: a TCP segment, or a datagram for TrafficKind::Constant.
constexpr int payload_of_packet(spec::TrafficKind kind, const Framing& framing) {
  const int above = kind == spec::TrafficKind::Constant ? kUdpHeader : kTcpHeader;
  return framing.mtu - ip_header(framing.ip_version) - above;
}

/// Payload bits per bit of a frame: 1448 / 1514 for TCP over IPv4 and an MTU of 1500.
constexpr double payload_share(spec::TrafficKind kind, const Framing& framing = {}) {
  return static_cast<double>(payload_of_packet(kind, framing)) /
         static_cast<double>(framing.mtu + kEthernetHeader);
}

/// The payload rate that takes `share` of a link of `rate`.
constexpr BitRate payload_rate(double share, BitRate rate, spec::TrafficKind kind,
                               const Framing& framing = {}) {
  return rate * (share * payload_share(kind, framing));
}

}  // namespace tw::load
