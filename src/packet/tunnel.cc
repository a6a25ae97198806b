// SPDX-License-Identifier: Apache-2.0
#include "trainwire/packet/tunnel.h"

#include "trainwire/packet/byte_order.h"

namespace tw::packet {
namespace {

constexpr std::uint16_t kIpv4 = 0x0800;
constexpr std::uint16_t kIpv6 = 0x86dd;
constexpr std::uint16_t kErspan = 0x88be;
constexpr std::uint8_t kIpInIp = 4;
constexpr std::uint8_t kIpv6InIp = 41;
constexpr std::uint8_t kGre = 47;

bool can_be_inside(std::uint16_t ethertype) {
  return ethertype == kIpv4 || ethertype == kIpv6 || ethertype == kWholeFrame;
}

/// Flags with the bit "network identifier is valid", three bytes of nothing, the identifier, and a byte of nothing.
std::optional<Carried> in_vxlan(std::span<const std::byte> payload) {
  constexpr std::size_t kHeader = 8;
  if (payload.size() < kHeader) return {};
  const bool has_identifier = (load_big<std::uint8_t>(payload.data()) & 0xf8) == 0x08;
  if (!has_identifier || load_big<std::uint8_t>(payload.data() + 7) != 0) return {};
  return Carried{kWholeFrame, kHeader};
}

/// Version (2 bits) and words of options (6), flags, the inner protocol, identifier; then the options.
std::optional<Carried> in_geneve(std::span<const std::byte> payload) {
  constexpr std::size_t kHeader = 8;
  if (payload.size() < kHeader) return {};
  const auto first = load_big<std::uint8_t>(payload.data());
  const auto ethertype = load_big<std::uint16_t>(payload.data() + 2);
  const std::size_t offset = kHeader + std::size_t{first} % 64 * 4;
  if (first >> 6 != 0 || !can_be_inside(ethertype) || offset > payload.size()) return {};
  return Carried{ethertype, offset};
}

/// Four bytes, and four more for each of checksum, key and sequence number that its flags announce.
std::optional<Carried> in_gre(std::span<const std::byte> payload) {
  if (payload.size() < 4) return {};
  const auto flags = load_big<std::uint16_t>(payload.data());
  const auto ethertype = load_big<std::uint16_t>(payload.data() + 2);
  constexpr std::uint16_t kChecksum = 0x8000;
  constexpr std::uint16_t kKey = 0x2000;
  constexpr std::uint16_t kSequence = 0x1000;
  constexpr std::uint16_t kOthers = 0x4fff;  // source routes, and versions above 0
  if ((flags & kOthers) != 0) return {};
  std::size_t offset = 4;
  for (const std::uint16_t flag : {kChecksum, kKey, kSequence}) offset += (flags & flag) ? 4 : 0;
  // ERSPAN II has a header of its own where packets are numbered, ERSPAN I neither.
  const bool mirrors = ethertype == kErspan;
  if (mirrors && (flags & kSequence) != 0) offset += 8;
  if ((!mirrors && !can_be_inside(ethertype)) || offset > payload.size()) return {};
  return Carried{mirrors ? kWholeFrame : ethertype, offset};
}

}  // namespace

std::optional<Carried> carried_by_udp(std::uint16_t port, std::span<const std::byte> payload) {
  if (port == kVxlanPort || port == kLinuxVxlanPort) return in_vxlan(payload);
  if (port == kGenevePort) return in_geneve(payload);
  return {};
}

std::optional<Carried> carried_by_ip(std::uint8_t protocol, std::span<const std::byte> payload) {
  if (protocol == kGre) return in_gre(payload);
  if (protocol == kIpInIp) return Carried{kIpv4, 0};
  if (protocol == kIpv6InIp) return Carried{kIpv6, 0};
  return {};
}

}  // namespace tw::packet
