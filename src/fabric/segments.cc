// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fabric/segments.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <cstring>

namespace tw::fabric {
namespace {

constexpr int kEthernet = 14;
constexpr std::size_t kIp = kEthernet;  ///< offset of the IP header in a frame
constexpr int kIpv6Header = 40;
constexpr int kUdpHeader = 8;
/// The kernel refuses smaller ones too; a hostile size must not make 64 k segments of one packet.
constexpr int kLeastSegment = 8;
constexpr std::uint8_t kProtocolTcp = 6;
constexpr std::uint8_t kProtocolUdp = 17;
constexpr std::uint8_t kFin = 0x01;
constexpr std::uint8_t kPsh = 0x08;
constexpr std::uint8_t kCwr = 0x80;
constexpr std::uint8_t kEcnBits = 0x03;

using ConstBytes = std::span<const std::uint8_t>;
using MutableBytes = std::span<std::uint8_t>;

std::uint16_t get16(ConstBytes bytes, std::size_t at) {
  return static_cast<std::uint16_t>(bytes[at] << 8 | bytes[at + 1]);
}

void put16(MutableBytes bytes, std::size_t at, std::uint32_t value) {
  bytes[at] = static_cast<std::uint8_t>(value >> 8);
  bytes[at + 1] = static_cast<std::uint8_t>(value);
}

std::uint32_t get32(ConstBytes bytes, std::size_t at) {
  return std::uint32_t{get16(bytes, at)} << 16 | get16(bytes, at + 2);
}

void put32(MutableBytes bytes, std::size_t at, std::uint32_t value) {
  put16(bytes, at, value >> 16);
  put16(bytes, at + 2, value & 0xffff);
}

/// Sum of 16-bit words, carries folded in (RFC 1071). REQUIRES: an even number of bytes.
std::uint32_t word_sum(ConstBytes bytes, std::uint32_t start = 0) {
  std::uint32_t sum = start;
  for (std::size_t i = 0; i < bytes.size(); i += 2) sum += get16(bytes, i);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

OffloadHeader offload_of(ConstBytes packet) {
  OffloadHeader header;
  std::memcpy(&header, packet.data(), kOffloadBytes);
  return header;
}

int ip_version(ConstBytes frame) {
  if (frame.size() < kEthernet + 20) return 0;
  const std::uint16_t type = get16(frame, 12);
  if (type == 0x0800 && frame[kIp] >> 4 == 4) return 4;
  if (type == 0x86dd && frame[kIp] >> 4 == 6 && frame.size() >= kEthernet + kIpv6Header) return 6;
  return 0;
}

/// What a packet to be cut consists of; nothing is cut whose headers disagree with one another.
struct Headers {
  Transport transport = Transport::Other;
  int bytes = 0;  ///< all headers
};

/// Length of the IP header with TCP or UDP directly behind it, 0 when it is not so or when the IP
/// length is not the frame's.
int ip_header_bytes(ConstBytes frame, std::uint8_t protocol) {
  const std::size_t ip_bytes = frame.size() - kEthernet;
  if (ip_version(frame) == 4) {
    const int header = (frame[kIp] & 0x0f) * 4;
    const bool fragment = (get16(frame, kIp + 6) & 0x3fff) != 0;
    const bool fits = header >= 20 && get16(frame, kIp + 2) == ip_bytes && !fragment;
    return fits && frame[kIp + 9] == protocol ? header : 0;
  }
  const bool fits = get16(frame, kIp + 4) + std::size_t{kIpv6Header} == ip_bytes;
  return fits && frame[kIp + 6] == protocol ? kIpv6Header : 0;
}

/// Which IP version and transport a kind of super-packet must have.
bool kind_fits(std::uint8_t kind, int version, Transport& transport) {
  const int plain_kind = kind & ~OffloadHeader::kEcn;
  transport = plain_kind == OffloadHeader::kUdp ? Transport::Udp : Transport::Tcp;
  if (plain_kind == OffloadHeader::kTcp4) return version == 4;
  if (plain_kind == OffloadHeader::kTcp6) return version == 6;
  return kind == OffloadHeader::kUdp && version != 0;
}

Headers read_headers(const OffloadHeader& offload, ConstBytes frame) {
  Transport transport;
  if (!kind_fits(offload.kind, ip_version(frame), transport)) return {};
  const bool is_tcp = transport == Transport::Tcp;
  const int ip = ip_header_bytes(frame, is_tcp ? kProtocolTcp : kProtocolUdp);
  const int start = kEthernet + ip;
  const int least = is_tcp ? 20 : kUdpHeader;
  if (ip == 0 || frame.size() < static_cast<std::size_t>(start + least)) return {};
  if ((offload.flags & OffloadHeader::kNeedsChecksum) == 0) return {};
  if (offload.checksum_start != start || offload.checksum_offset != (is_tcp ? 16 : 6)) return {};
  const int header = is_tcp ? (frame[static_cast<std::size_t>(start) + 12] >> 4) * 4 : kUdpHeader;
  if (header < least || frame.size() <= static_cast<std::size_t>(start + header)) return {};
  return {.transport = transport, .bytes = start + header};
}

/// Pseudo-header of TCP and UDP: addresses, protocol, length.
std::uint32_t pseudo_header_sum(ConstBytes frame, std::size_t transport_bytes, bool is_tcp) {
  const std::uint32_t rest =
      (is_tcp ? kProtocolTcp : kProtocolUdp) + static_cast<std::uint32_t>(transport_bytes);
  if (ip_version(frame) == 4) return word_sum(frame.subspan(kIp + 12, 8), rest);
  return word_sum(frame.subspan(kIp + 8, 32), rest);
}

void write_ipv4_checksum(MutableBytes frame) {
  const auto header = frame.subspan(kIp, static_cast<std::size_t>(frame[kIp] & 0x0f) * 4);
  put16(header, 10, 0);
  put16(header, 10, ~word_sum(header) & 0xffff);
}

/// Length, and for IPv4 the identification of the run's first segment.
void fix_ip(MutableBytes frame, int first) {
  const auto ip_bytes = static_cast<std::uint32_t>(frame.size() - kEthernet);
  if (ip_version(frame) == 6) {
    put16(frame, kIp + 4, ip_bytes - kIpv6Header);
    return;
  }
  put16(frame, kIp + 2, ip_bytes);
  put16(frame, kIp + 4, get16(frame, kIp + 4) + static_cast<std::uint32_t>(first));
  write_ipv4_checksum(frame);
}

struct Run {
  int first;
  bool has_last;
};

void fix_tcp(MutableBytes frame, std::size_t start, const Segments& segments, Run run) {
  const auto skipped = static_cast<std::uint32_t>(run.first * segments.segment_bytes);
  put32(frame, start + 4, get32(frame, start + 4) + skipped);
  std::uint8_t& flags = frame[start + 13];
  if (!run.has_last) flags = static_cast<std::uint8_t>(flags & ~(kPsh | kFin));
  if (run.first > 0) flags = static_cast<std::uint8_t>(flags & ~kCwr);
}

void fix_transport(MutableBytes frame, const OffloadHeader& offload, const Segments& segments,
                   Run run) {
  const std::size_t start = offload.checksum_start;
  const std::size_t bytes = frame.size() - start;
  const bool is_tcp = segments.transport == Transport::Tcp;
  if (is_tcp) {
    fix_tcp(frame, start, segments, run);
  } else {
    put16(frame, start + 4, static_cast<std::uint32_t>(bytes));
  }
  put16(frame, start + offload.checksum_offset, pseudo_header_sum(frame, bytes, is_tcp));
}

OffloadHeader offload_of_run(OffloadHeader offload, const Segments& segments, Run run, int count) {
  offload.header_bytes = static_cast<std::uint16_t>(segments.header_bytes);
  if (run.first > 0) {
    offload.kind = static_cast<std::uint8_t>(offload.kind & ~OffloadHeader::kEcn);
  }
  if (count == 1) {
    offload.kind = OffloadHeader::kPlain;
    offload.segment_bytes = 0;
  }
  return offload;
}

/// Payload of the run.
int run_payload(const Segments& segments, int first, int count) {
  const int begin = first * segments.segment_bytes;
  return std::min(count * segments.segment_bytes, segments.payload_bytes - begin);
}

}  // namespace

int Segments::wire_bytes(int i) const {
  if (count == 1) return header_bytes + payload_bytes;
  return header_bytes + run_payload(*this, i, 1);
}

std::int64_t Segments::wire_bytes() const {
  return std::int64_t{header_bytes} * count + payload_bytes;
}

Segments describe(std::span<const std::uint8_t> packet) {
  if (packet.size() < kOffloadBytes) return {};
  const ConstBytes frame = packet.subspan(kOffloadBytes);
  const auto frame_size = static_cast<int>(frame.size());
  Segments whole{.payload_bytes = frame_size, .is_ip = ip_version(frame) != 0};
  const OffloadHeader offload = offload_of(packet);
  if (offload.kind == OffloadHeader::kPlain || offload.segment_bytes < kLeastSegment) return whole;
  const Headers headers = read_headers(offload, frame);
  const int payload = frame_size - headers.bytes;
  if (headers.bytes == 0 || payload <= offload.segment_bytes) return whole;
  return {.count = (payload + offload.segment_bytes - 1) / offload.segment_bytes,
          .header_bytes = headers.bytes,
          .segment_bytes = offload.segment_bytes,
          .payload_bytes = payload,
          .transport = headers.transport,
          .is_ip = true};
}

std::size_t cut_bytes(const Segments& segments, int first, int count) {
  check(first >= 0 && count > 0 && first + count <= segments.count,
        "what is cut out of a packet lies within it");
  if (segments.count == 1) return kOffloadBytes + static_cast<std::size_t>(segments.wire_bytes(0));
  return kOffloadBytes +
         static_cast<std::size_t>(segments.header_bytes + run_payload(segments, first, count));
}

void cut(std::span<const std::uint8_t> packet, const Segments& segments, int first, int count,
         std::span<std::uint8_t> into) {
  check(into.size() == cut_bytes(segments, first, count), "a cut packet fits its place exactly");
  if (count == segments.count) {
    std::copy(packet.begin(), packet.end(), into.begin());
    return;
  }
  const Run run{.first = first, .has_last = first + count == segments.count};
  const OffloadHeader offload = offload_of_run(offload_of(packet), segments, run, count);
  std::memcpy(into.data(), &offload, kOffloadBytes);
  const ConstBytes source = packet.subspan(kOffloadBytes);
  const MutableBytes frame = into.subspan(kOffloadBytes);
  const auto headers = static_cast<std::size_t>(segments.header_bytes);
  const auto skipped = static_cast<std::size_t>(first * segments.segment_bytes);
  std::memcpy(frame.data(), source.data(), headers);
  std::memcpy(frame.data() + headers, source.data() + headers + skipped, frame.size() - headers);
  fix_ip(frame, first);
  fix_transport(frame, offload, segments, run);
}

// IPv6's traffic class lies across two bytes: its low bits are bits 5 and 4 of the second.
bool allows_marking(std::span<const std::uint8_t> packet) {
  if (packet.size() < kOffloadBytes) return false;
  const ConstBytes frame = packet.subspan(kOffloadBytes);
  const int version = ip_version(frame);
  if (version == 6) return (frame[kIp + 1] >> 4 & kEcnBits) != 0;
  if (version != 4 || (frame[kIp + 1] & kEcnBits) == 0) return false;
  const std::size_t header = (frame[kIp] & 0x0fu) * 4;
  return header >= 20 && frame.size() >= kIp + header;
}

void mark_congestion(std::span<std::uint8_t> packet) {
  check(allows_marking(packet), "only packets that allow it are marked");
  const MutableBytes frame = packet.subspan(kOffloadBytes);
  std::uint8_t& field = frame[kIp + 1];
  if (ip_version(frame) == 6) {
    field = static_cast<std::uint8_t>(field | kEcnBits << 4);
    return;
  }
  field = static_cast<std::uint8_t>(field | kEcnBits);
  write_ipv4_checksum(frame);
}

}  // namespace tw::fabric
