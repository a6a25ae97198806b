// SPDX-License-Identifier: Apache-2.0
#include "trainwire/packet/frame.h"

#include "trainwire/base/error.h"
#include "trainwire/packet/byte_order.h"
#include "trainwire/packet/record.h"
#include "trainwire/packet/rocev2.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace tw::packet {
namespace {

constexpr std::uint8_t kTcpProtocol = 6;
constexpr std::uint8_t kUdpProtocol = 17;
constexpr std::uint8_t kFragmentHeader = 44;
constexpr std::uint8_t kAuthenticationHeader = 51;
constexpr std::uint16_t kEthertypeV4 = 0x0800;
constexpr std::uint16_t kEthertypeV6 = 0x86dd;

/// Headers in network order, on the stack.
class NetworkBytes {
 public:
  template <class T>
  void put(T value) {
    store(grown(sizeof value), value, std::endian::big);
  }
  void put_zeros(std::size_t n) { std::fill_n(grown(n), n, std::byte{0}); }
  void put_bytes(std::span<const std::byte> bytes) {
    std::copy(bytes.begin(), bytes.end(), grown(bytes.size()));
  }
  void patch(std::size_t at, std::uint16_t value) { store(&bytes_[at], value, std::endian::big); }
  std::size_t size() const { return size_; }
  std::span<const std::byte> all() const { return std::span(bytes_).first(size_); }

 private:
  std::byte* grown(std::size_t n) {
    check(size_ + n <= bytes_.size(), "headers of a frame fit into 512 bytes");
    size_ += n;
    return bytes_.data() + size_ - n;
  }

  std::array<std::byte, 512> bytes_;
  std::size_t size_ = 0;
};

/// Ones' complement sum (RFC 1071) of 16-bit words, not yet complemented. An odd last byte is
/// padded.
std::uint64_t word_sum(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) sum += load_big<std::uint16_t>(&bytes[i]);
  if (bytes.size() % 2 != 0) sum += std::to_integer<std::uint64_t>(bytes.back()) << 8;
  return sum;
}

std::uint16_t checksum(std::uint64_t sum) {
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

/// Pseudo-header of RFC 9293 and RFC 8200. IPv4-mapped prefixes must not count, so only four bytes
/// do.
std::uint64_t pseudo_header_sum(const FrameSpec& spec, std::uint8_t protocol,
                                std::uint64_t length) {
  const std::size_t skip = spec.source.is_v4() ? 12 : 0;
  const auto words = [skip](const Address& a) {
    return word_sum(std::as_bytes(std::span(a.bytes)).subspan(skip));
  };
  return words(spec.source) + words(spec.destination) + protocol + (length & 0xffff) +
         (length >> 16);
}

void put_tcp_options(NetworkBytes& out, const TcpHeader& tcp) {
  if (tcp.segment_bytes.has_value()) {
    out.put<std::uint16_t>(0x0204);
    out.put(*tcp.segment_bytes);
  }
  if (tcp.window_scale.has_value()) {
    out.put<std::uint32_t>(0x01030300u | *tcp.window_scale);
  }
  if (tcp.timestamps.has_value()) {
    out.put<std::uint32_t>(0x0101080a);
    out.put(tcp.timestamps->value);
    out.put(tcp.timestamps->echo);
  }
}

NetworkBytes tcp_header(const FrameSpec& spec) {
  NetworkBytes options;
  put_tcp_options(options, spec.tcp);
  NetworkBytes out;
  out.put(spec.source_port);
  out.put(spec.destination_port);
  out.put(spec.tcp.sequence);
  out.put(spec.tcp.acknowledgement);
  out.put(static_cast<std::uint8_t>((20 + options.size()) / 4 << 4));
  out.put(spec.tcp.flags);
  out.put(spec.tcp.window);
  out.put<std::uint32_t>(0);  // checksum, urgent pointer
  out.put_bytes(options.all());
  const std::uint64_t length = out.size() + spec.payload_bytes;
  out.patch(16, checksum(word_sum(out.all()) + pseudo_header_sum(spec, kTcpProtocol, length)));
  return out;
}

/// Everything in front of the message; `trailing` is what follows it: padding and checksum.
NetworkBytes rdma_headers(const FrameSpec& spec, std::size_t& trailing) {
  // Headers of an opcode are what a datagram is larger than its message.
  constexpr std::uint32_t kLarge = 1024;
  const std::uint32_t overhead = kLarge - rocev2_message_bytes(spec.rdma.opcode, 0, kLarge);
  const bool carries_message = overhead != kLarge;
  const std::uint32_t padding = (4 - spec.payload_bytes % 4) % 4;
  trailing = padding + 4;
  NetworkBytes out;
  out.put(spec.rdma.opcode);
  out.put(static_cast<std::uint8_t>(padding << 4));
  out.put<std::uint16_t>(0xffff);  // partition
  out.put(spec.rdma.queue_pair & 0xffffff);
  out.put(spec.rdma.sequence & 0xffffff);
  if (carries_message) out.put_zeros(overhead - kBaseTransportHeader - 4);
  return out;
}

NetworkBytes udp_headers(const FrameSpec& spec, std::size_t& trailing) {
  NetworkBytes inner;
  if (spec.transport == Transport::Rocev2) inner = rdma_headers(spec, trailing);
  const std::uint64_t length = 8 + inner.size() + spec.payload_bytes + trailing;
  NetworkBytes out;
  out.put(spec.source_port);
  out.put(spec.transport == Transport::Rocev2 ? kRocev2Port : spec.destination_port);
  out.put(static_cast<std::uint16_t>(length > 0xffff ? 0 : length));
  out.put<std::uint16_t>(0);
  out.put_bytes(inner.all());
  const auto sum = checksum(word_sum(out.all()) + pseudo_header_sum(spec, kUdpProtocol, length));
  out.patch(6, sum == 0 ? 0xffff : sum);  // 0 would say "none" (RFC 768)
  return out;
}

std::uint16_t length_field(std::size_t bytes, bool hide) {
  return hide || bytes > 0xffff ? std::uint16_t{0} : static_cast<std::uint16_t>(bytes);
}

std::uint16_t v4_fragment_field(const FrameSpec& spec) {
  return static_cast<std::uint16_t>(spec.fragment_offset / 8 | (spec.more_fragments ? 0x2000 : 0));
}

NetworkBytes v4_header(const FrameSpec& spec, std::uint8_t protocol, std::size_t behind) {
  const std::size_t header_bytes = 20 + spec.v4_option_bytes;
  NetworkBytes out;
  out.put(static_cast<std::uint8_t>(0x40 | header_bytes / 4));
  out.put(spec.ecn);
  out.put(length_field(header_bytes + behind, spec.hide_ip_length));
  out.put(spec.identification);
  out.put(v4_fragment_field(spec));
  out.put<std::uint8_t>(64);
  out.put(protocol);
  out.put<std::uint16_t>(0);
  out.put_bytes(std::as_bytes(std::span(spec.source.bytes)).subspan(12));
  out.put_bytes(std::as_bytes(std::span(spec.destination.bytes)).subspan(12));
  for (std::uint32_t i = 0; i < spec.v4_option_bytes; ++i) out.put<std::uint8_t>(1);
  out.patch(10, checksum(word_sum(out.all())));
  return out;
}

/// Each extension header begins with the protocol of the next one.
NetworkBytes v6_extensions(const FrameSpec& spec, std::uint8_t protocol) {
  NetworkBytes out;
  for (std::size_t i = 0; i < spec.extensions.size(); ++i) {
    const std::uint8_t kind = spec.extensions[i];
    out.put(i + 1 < spec.extensions.size() ? spec.extensions[i + 1] : protocol);
    if (kind == kFragmentHeader) {
      out.put<std::uint8_t>(0);
      out.put(static_cast<std::uint16_t>(spec.fragment_offset | (spec.more_fragments ? 1 : 0)));
      out.put<std::uint32_t>(spec.identification);
    } else if (kind == kAuthenticationHeader) {
      out.put<std::uint8_t>(1);  // twelve bytes: RFC 4302 counts words less two
      out.put_zeros(10);
    } else {
      out.put<std::uint8_t>(0);
      out.put<std::uint16_t>(kind == 43 ? 0
                                        : 0x0104);  // PadN of four bytes fills an options header
      out.put<std::uint32_t>(0);
    }
  }
  return out;
}

NetworkBytes v6_header(const FrameSpec& spec, std::uint8_t protocol, std::size_t behind) {
  const NetworkBytes extensions = v6_extensions(spec, protocol);
  NetworkBytes out;
  out.put(std::uint32_t{6} << 28 | std::uint32_t{spec.ecn} << 20);
  out.put(length_field(extensions.size() + behind, spec.hide_ip_length));
  out.put(spec.extensions.empty() ? protocol : spec.extensions.front());
  out.put<std::uint8_t>(64);
  out.put_bytes(std::as_bytes(std::span(spec.source.bytes)));
  out.put_bytes(std::as_bytes(std::span(spec.destination.bytes)));
  out.put_bytes(extensions.all());
  return out;
}

/// The EtherType, after VLAN tags: 802.1ad (0x88a8) outside and 802.1Q (0x8100) innermost.
void put_ethertype(NetworkBytes& out, const FrameSpec& spec, std::uint16_t ethertype) {
  for (std::size_t i = 0; i < spec.vlans.size(); ++i) {
    out.put<std::uint16_t>(i + 1 < spec.vlans.size() ? 0x88a8 : 0x8100);
    out.put(spec.vlans[i]);
  }
  out.put(ethertype);
}

/// Locally administered, from the last byte of the address, so that hosts differ.
void put_mac(NetworkBytes& out, const Address& address) {
  out.put<std::uint32_t>(0x02000000);
  out.put<std::uint8_t>(0);
  out.put(address.bytes.back());
}

NetworkBytes link_header(const FrameSpec& spec, std::uint16_t ethertype) {
  NetworkBytes out;
  switch (link_of(spec.link_type)) {
    case Link::Ethernet:
      put_mac(out, spec.destination);
      put_mac(out, spec.source);
      put_ethertype(out, spec, ethertype);
      return out;
    case Link::LinuxCooked:
      out.put<std::uint64_t>(0x0004'0001'0006'0200);  // sent by us, Ethernet, 6-byte address
      out.put_zeros(6);
      put_ethertype(out, spec, ethertype);
      return out;
    case Link::LinuxCooked2:
      out.put(ethertype);
      out.put<std::uint16_t>(0);
      out.put<std::uint32_t>(1);           // interface index
      out.put<std::uint32_t>(0x00010406);  // Ethernet, sent by us, 6-byte address
      out.put<std::uint64_t>(0x0200000000000000);
      return out;
    case Link::Null: {
      const std::uint32_t family = ethertype == kEthertypeV4 ? 2 : 30;
      out.put(spec.link_type == 0 ? byte_swapped(family) : family);
      return out;
    }
    case Link::RawIp:
    case Link::Ipv4:
    case Link::Ipv6:
      return out;
    case Link::Unknown:
      break;
  }
  throw SpecError(fmt::format("making a frame: link type {} is not known", spec.link_type));
}

}  // namespace

Frame make_frame(const FrameSpec& spec) {
  const bool v4 = spec.source.is_v4();
  if (v4 != spec.destination.is_v4()) {
    throw SpecError(fmt::format("making a frame: {} and {} are of two families", spec.source.text(),
                                spec.destination.text()));
  }
  const std::uint8_t protocol = spec.transport == Transport::Tcp ? kTcpProtocol : kUdpProtocol;
  std::size_t trailing = 0;
  NetworkBytes transport;
  if (spec.fragment_offset == 0) {
    transport = spec.transport == Transport::Tcp ? tcp_header(spec) : udp_headers(spec, trailing);
  }
  const std::size_t behind_ip = transport.size() + spec.payload_bytes + trailing;
  NetworkBytes frame = link_header(spec, v4 ? kEthertypeV4 : kEthertypeV6);
  const NetworkBytes ip =
      v4 ? v4_header(spec, protocol, behind_ip) : v6_header(spec, protocol, behind_ip);
  frame.put_bytes(ip.all());
  frame.put_bytes(transport.all());
  const std::size_t original =
      std::max<std::size_t>(frame.size() + spec.payload_bytes + trailing, spec.least_bytes);
  const std::size_t kept =
      spec.snaplen == 0 ? original : std::min<std::size_t>(original, spec.snaplen);
  std::vector<std::byte> bytes(kept);
  std::copy_n(frame.all().begin(), std::min(kept, frame.size()), bytes.begin());
  return {.bytes = std::move(bytes), .original_bytes = static_cast<std::uint32_t>(original)};
}

}  // namespace tw::packet
