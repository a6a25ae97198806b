// SPDX-License-Identifier: Apache-2.0
#include "trainwire/packet/decode.h"

#include "trainwire/packet/rocev2.h"
#include "trainwire/packet/tunnel.h"

#include <algorithm>

namespace tw::packet {
namespace {

enum Protocol : std::uint8_t {
  kHopByHop = 0,
  kTcp = 6,
  kUdp = 17,
  kRouting = 43,
  kFragmentHeader = 44,
  kAuthentication = 51,
  kDestinationOptions = 60,
  kMobility = 135,
};

/// What is left of the frame behind the headers read so far.
struct Rest {
  const std::byte* at;
  std::size_t captured;
  std::size_t original;
  int tunnels = 0;  ///< that it is inside of

  bool holds(std::size_t n) const { return captured >= n; }
  template <class T>
  T big(std::size_t offset) const {
    return load_big<T>(at + offset);
  }
  /// REQUIRES: holds(n).
  Rest behind(std::size_t n) const { return {at + n, captured - n, original - n, tunnels}; }
  /// The same, when at most `n` bytes belong to it: link-layer padding is cut off.
  Rest limited_to(std::size_t n) const {
    return {at, std::min(captured, n), std::min(original, n), tunnels};
  }
  std::span<const std::byte> bytes() const { return {at, captured}; }
};

/// The packet inside becomes the packet, with the bytes on the wire and the mark of congestion of what carries it. False,
/// and nothing is changed, when it is none, or its headers were not captured.
bool decode_inner(const Rest& rest, const Carried& carried, AddressTable& addresses,
                  Packet& packet);

Verdict decode_tcp(const Rest& rest, Packet& packet) {
  if (rest.holds(4)) {
    packet.source_port = rest.big<std::uint16_t>(0);
    packet.destination_port = rest.big<std::uint16_t>(2);
  }
  // Sixteen bytes hold all we take: a snap length of 54 still serves a tagged frame.
  if (!rest.holds(16)) return Verdict::TooShort;
  const std::size_t header_bytes = std::size_t{rest.big<std::uint8_t>(12)} >> 4 << 2;
  if (header_bytes < 20 || header_bytes > rest.original) return Verdict::Malformed;
  packet.sequence = rest.big<std::uint32_t>(4);
  packet.acknowledgement = rest.big<std::uint32_t>(8);
  packet.tcp_flags = rest.big<std::uint8_t>(13);
  packet.window = rest.big<std::uint16_t>(14);
  packet.payload_bytes = static_cast<std::uint32_t>(rest.original - header_bytes);
  if (header_bytes > 20 && rest.holds(21)) {
    const std::size_t end = std::min(header_bytes, rest.captured);
    const TcpOptions options = tcp_options({rest.at + 20, end - 20}, packet.tcp_flags);
    packet.timestamp_value = options.timestamp_value;
    packet.timestamp_echo = options.timestamp_echo;
    packet.window_scale = options.window_scale;
    packet.segment_bytes = options.segment_bytes;
  }
  return Verdict::Tcp;
}

Verdict decode_udp(const Rest& rest, AddressTable& addresses, Packet& packet) {
  if (rest.holds(4)) {
    packet.source_port = rest.big<std::uint16_t>(0);
    packet.destination_port = rest.big<std::uint16_t>(2);
  }
  if (!rest.holds(8)) return Verdict::TooShort;
  const std::size_t stated = rest.big<std::uint16_t>(4);
  // 0 stands for "more than 65,535" (RFC 2675); a first fragment states more than it holds.
  if ((stated != 0 && stated < 8) || rest.original < 8) return Verdict::Malformed;
  const std::size_t datagram = stated == 0 ? rest.original : std::min(stated, rest.original);
  packet.payload_bytes = static_cast<std::uint32_t>(datagram - 8);
  packet.distinction = rest.big<std::uint16_t>(6);
  const Rest payload = rest.behind(8).limited_to(datagram - 8);
  const auto carried = carried_by_udp(packet.destination_port, payload.bytes());
  if (carried && decode_inner(payload, *carried, addresses, packet)) return packet.verdict;
  if (packet.destination_port != kRocev2Port || !payload.holds(kBaseTransportHeader)) {
    return Verdict::Udp;
  }
  packet.tcp_flags = payload.big<std::uint8_t>(0);
  packet.acknowledgement = payload.big<std::uint32_t>(4) & 0xffffff;
  packet.sequence = payload.big<std::uint32_t>(8) & 0xffffff;
  const unsigned padding = payload.big<std::uint8_t>(1) >> 4 & 3;
  packet.payload_bytes = rocev2_message_bytes(packet.tcp_flags, padding, packet.payload_bytes);
  return Verdict::Rocev2;
}

Verdict decode_transport(const Rest& rest, std::uint8_t protocol, AddressTable& addresses,
                         Packet& packet) {
  packet.ip_protocol = protocol;
  if (protocol == kTcp) return decode_tcp(rest, packet);
  if (protocol == kUdp) return decode_udp(rest, addresses, packet);
  const auto carried = carried_by_ip(protocol, rest.bytes());
  if (carried && decode_inner(rest, *carried, addresses, packet)) return packet.verdict;
  packet.payload_bytes = static_cast<std::uint32_t>(rest.original);
  return Verdict::OtherIp;
}

bool is_extension_header(std::uint8_t protocol) {
  switch (protocol) {
    case kHopByHop:
    case kRouting:
    case kFragmentHeader:
    case kAuthentication:
    case kDestinationOptions:
    case kMobility:
      return true;
    default:
      return false;
  }
}

/// Walks the extension headers (RFC 8200 section 4; authentication header RFC 4302), which all
/// begin with the next protocol and, but for the fragment header, a length. Bounded by the captured
/// bytes.
Verdict decode_extensions(Rest rest, std::uint8_t protocol, AddressTable& addresses,
                          Packet& packet) {
  while (is_extension_header(protocol)) {
    packet.ip_protocol = protocol;
    if (!rest.holds(8)) return Verdict::TooShort;
    const std::size_t length = rest.big<std::uint8_t>(1);
    std::size_t header_bytes = 8 + 8 * length;
    if (protocol == kAuthentication) header_bytes = 8 + 4 * length;
    if (protocol == kFragmentHeader) header_bytes = 8;
    if (header_bytes > rest.original) return Verdict::Malformed;
    const int place = protocol == kFragmentHeader ? rest.big<std::uint16_t>(2) >> 3 : 0;
    protocol = rest.big<std::uint8_t>(0);
    if (!rest.holds(header_bytes)) return Verdict::TooShort;
    rest = rest.behind(header_bytes);
    if (place != 0) {
      packet.ip_protocol = protocol;
      packet.distinction = static_cast<std::uint16_t>(place);
      packet.payload_bytes = static_cast<std::uint32_t>(rest.original);
      return Verdict::Fragment;
    }
  }
  return decode_transport(rest, protocol, addresses, packet);
}

/// The bytes of the IP packet by its own account, or by the frame's where it keeps none: length 0
/// and more than 65,535 bytes are what segmentation offload leaves.
std::size_t ip_packet_bytes(std::size_t stated, bool stated_nothing, const Rest& rest,
                            std::size_t most, Packet& packet) {
  if (stated_nothing) packet.super_frame = true;
  return stated_nothing || rest.original > most ? rest.original : stated;
}

Verdict decode_ipv4(const Rest& rest, AddressTable& addresses, Packet& packet) {
  if (!rest.holds(1)) return Verdict::TooShort;
  const auto first = rest.big<std::uint8_t>(0);
  const std::size_t header_bytes = std::size_t{first} % 16 * 4;
  if (first >> 4 != 4 || header_bytes < 20) return Verdict::Malformed;
  if (!rest.holds(20)) return Verdict::TooShort;
  packet.ecn = rest.big<std::uint8_t>(1) & 3;
  packet.identification = rest.big<std::uint16_t>(4);
  packet.ip_protocol = rest.big<std::uint8_t>(9);
  packet.source = addresses.number_of_v4(rest.big<std::uint32_t>(12));
  packet.destination = addresses.number_of_v4(rest.big<std::uint32_t>(16));
  const std::size_t stated = rest.big<std::uint16_t>(2);
  const std::size_t bytes = ip_packet_bytes(stated, stated == 0, rest, 0xffff, packet);
  if (bytes < header_bytes) return Verdict::Malformed;
  if (!rest.holds(header_bytes)) return Verdict::TooShort;
  const Rest behind = rest.limited_to(bytes).behind(header_bytes);
  const int place = rest.big<std::uint16_t>(6) & 0x1fff;
  if (place != 0) {
    packet.distinction = static_cast<std::uint16_t>(place);
    packet.payload_bytes = static_cast<std::uint32_t>(behind.original);
    return Verdict::Fragment;
  }
  // IPv4 has no extension headers but for authentication; the others are protocols of their own
  // there.
  if (packet.ip_protocol != kAuthentication) {
    return decode_transport(behind, packet.ip_protocol, addresses, packet);
  }
  return decode_extensions(behind, packet.ip_protocol, addresses, packet);
}

std::uint32_t v6_number(const std::byte* at, AddressTable& addresses) {
  Address address;
  std::memcpy(address.bytes.data(), at, address.bytes.size());
  return addresses.number_of(address);
}

Verdict decode_ipv6(const Rest& rest, AddressTable& addresses, Packet& packet) {
  constexpr std::size_t kHeaderBytes = 40;
  if (!rest.holds(1)) return Verdict::TooShort;
  if (rest.big<std::uint8_t>(0) >> 4 != 6) return Verdict::Malformed;
  if (!rest.holds(kHeaderBytes)) return Verdict::TooShort;
  packet.ecn = rest.big<std::uint8_t>(1) >> 4 & 3;
  packet.source = v6_number(rest.at + 8, addresses);
  packet.destination = v6_number(rest.at + 24, addresses);
  const auto next = rest.big<std::uint8_t>(6);
  const std::size_t stated = rest.big<std::uint16_t>(4);
  // An empty packet says "no next header" (59); any other of length 0 is a jumbogram or offload.
  constexpr std::uint8_t kNoNextHeader = 59;
  const bool states_nothing = stated == 0 && next != kNoNextHeader;
  const std::size_t bytes =
      ip_packet_bytes(kHeaderBytes + stated, states_nothing, rest, kHeaderBytes + 0xffff, packet);
  return decode_extensions(rest.limited_to(bytes).behind(kHeaderBytes), next, addresses, packet);
}

Verdict decode_ip(const Rest& rest, AddressTable& addresses, Packet& packet) {
  if (!rest.holds(1)) return Verdict::TooShort;
  const int version = rest.big<std::uint8_t>(0) >> 4;
  if (version == 4) return decode_ipv4(rest, addresses, packet);
  return version == 6 ? decode_ipv6(rest, addresses, packet) : Verdict::NotIp;
}

bool is_vlan_tag(std::uint16_t ethertype) {
  return ethertype == 0x8100 || ethertype == 0x88a8 || ethertype == 0x9100;
}

/// `rest` begins behind the EtherType; a VLAN tag holds two bytes and the next EtherType.
Verdict decode_ethertype(Rest rest, std::uint16_t ethertype, AddressTable& addresses,
                         Packet& packet) {
  constexpr int kMostTags = 4;
  for (int tags = 0; is_vlan_tag(ethertype) && tags < kMostTags; ++tags) {
    if (!rest.holds(4)) return Verdict::TooShort;
    ethertype = rest.big<std::uint16_t>(2);
    rest = rest.behind(4);
  }
  if (ethertype == 0x0800) return decode_ipv4(rest, addresses, packet);
  if (ethertype == 0x86dd) return decode_ipv6(rest, addresses, packet);
  return Verdict::NotIp;
}

Verdict decode_with_ethertype(const Rest& rest, std::size_t type_at, std::size_t header_bytes,
                              AddressTable& addresses, Packet& packet) {
  if (!rest.holds(header_bytes)) return Verdict::TooShort;
  const auto ethertype = rest.big<std::uint16_t>(type_at);
  return decode_ethertype(rest.behind(header_bytes), ethertype, addresses, packet);
}

bool decode_inner(const Rest& rest, const Carried& carried, AddressTable& addresses,
                  Packet& packet) {
  constexpr int kMostTunnels = 3;
  if (rest.tunnels == kMostTunnels || rest.original < carried.offset) return false;
  Rest inside = rest.behind(carried.offset);
  ++inside.tunnels;
  Packet inner{};
  inner.time_ns = packet.time_ns;
  inner.wire_bytes = packet.wire_bytes;
  inner.captured_bytes = packet.captured_bytes;
  inner.interface = packet.interface;
  inner.super_frame = packet.super_frame;
  inner.verdict = carried.ethertype == kWholeFrame
                      ? decode_with_ethertype(inside, 12, 14, addresses, inner)
                      : decode_ethertype(inside, carried.ethertype, addresses, inner);
  const bool is_packet = inner.verdict == Verdict::Tcp || inner.verdict == Verdict::Udp ||
                         inner.verdict == Verdict::Rocev2 || inner.verdict == Verdict::OtherIp ||
                         inner.verdict == Verdict::Fragment;
  if (!is_packet) return false;
  if (packet.ecn == 3) inner.ecn = 3;  // what carries it was marked (RFC 6040)
  packet = inner;
  return true;
}

/// The family is in the byte order of the machine that captured. IPv6 is 10 on Linux, 24, 28 or 30
/// on the BSDs; families are small, so the order shows.
Verdict decode_null(const Rest& rest, AddressTable& addresses, Packet& packet) {
  if (!rest.holds(4)) return Verdict::TooShort;
  const auto big = rest.big<std::uint32_t>(0);
  const std::uint32_t family = big < 0x10000 ? big : byte_swapped(big);
  switch (family) {
    case 2:
      return decode_ipv4(rest.behind(4), addresses, packet);
    case 10:
    case 24:
    case 28:
    case 30:
      return decode_ipv6(rest.behind(4), addresses, packet);
    default:
      return Verdict::NotIp;
  }
}

Verdict decode_link(Link link, const Rest& rest, AddressTable& addresses, Packet& packet) {
  switch (link) {
    case Link::Ethernet:
      return decode_with_ethertype(rest, 12, 14, addresses, packet);
    case Link::LinuxCooked:
      return decode_with_ethertype(rest, 14, 16, addresses, packet);
    case Link::LinuxCooked2:
      return decode_with_ethertype(rest, 0, 20, addresses, packet);
    case Link::Null:
      return decode_null(rest, addresses, packet);
    case Link::RawIp:
      return decode_ip(rest, addresses, packet);
    case Link::Ipv4:
      return decode_ipv4(rest, addresses, packet);
    case Link::Ipv6:
      return decode_ipv6(rest, addresses, packet);
    case Link::Unknown:
      return Verdict::UnknownLink;
  }
  return Verdict::UnknownLink;
}

}  // namespace

Link link_of(std::uint32_t link_type) {
  switch (link_type) {
    case 1:
      return Link::Ethernet;
    case 113:
      return Link::LinuxCooked;
    case 276:
      return Link::LinuxCooked2;
    case 0:
    case 108:
      return Link::Null;
    case 12:
    case 14:
    case 101:
      return Link::RawIp;
    case 228:
      return Link::Ipv4;
    case 229:
      return Link::Ipv6;
    default:
      return Link::Unknown;
  }
}

TcpOptions tcp_options(std::span<const std::byte> options, std::uint8_t flags) {
  enum Kind : std::uint8_t { kEnd = 0, kNothing = 1, kSegment = 2, kScale = 3, kTimestamp = 8 };
  TcpOptions found;
  while (!options.empty()) {
    const auto kind = load_big<std::uint8_t>(options.data());
    if (kind == kEnd) break;
    if (kind == kNothing) {
      options = options.subspan(1);
      continue;
    }
    if (options.size() < 2) break;
    const std::size_t length = load_big<std::uint8_t>(options.data() + 1);
    if (length < 2 || length > options.size()) break;
    const std::byte* value = options.data() + 2;
    if (kind == kTimestamp && length == 10) {
      found.timestamp_value = load_big<std::uint32_t>(value);
      found.timestamp_echo = load_big<std::uint32_t>(value + 4);
    }
    if ((flags & kSyn) != 0 && kind == kSegment && length == 4) {
      found.segment_bytes = load_big<std::uint16_t>(value);
    }
    if ((flags & kSyn) != 0 && kind == kScale && length == 3) {
      // RFC 7323 section 2.3: a larger shift counts as 14.
      found.window_scale =
          static_cast<std::uint8_t>(std::min(load_big<std::uint8_t>(value), std::uint8_t{14}) + 1);
    }
    options = options.subspan(length);
  }
  return found;
}

void decode_any(const Record& record, AddressTable& addresses, Packet& packet) {
  packet = {};
  packet.time_ns = record.time_ns;
  packet.wire_bytes = record.original_bytes;
  packet.captured_bytes = static_cast<std::uint32_t>(record.bytes.size());
  packet.interface = record.interface;
  packet.super_frame = record.original_bytes > kLargestWireFrame;
  const std::size_t captured = record.bytes.size();
  // Some writers state a smaller original length than they captured; the bytes are there.
  const Rest frame{record.bytes.data(), captured,
                   std::max<std::size_t>(captured, record.original_bytes)};
  packet.verdict = decode_link(record.link, frame, addresses, packet);
}

}  // namespace tw::packet
