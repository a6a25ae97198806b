// SPDX-License-Identifier: Apache-2.0
// Frames made from a description: what ladders, generators and simulators write into captures.
//
// Headers are real and their checksums right; payloads are zeros and only as many as the snap
// length leaves, so a frame of 64 KiB costs no more than its headers.

#pragma once

#include "trainwire/packet/address.h"
#include "trainwire/packet/packet.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tw::packet {

struct TcpTimestamps {
  std::uint32_t value;
  std::uint32_t echo;
};

struct TcpHeader {
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgement = 0;
  std::uint8_t flags = kAck;
  std::uint16_t window = 512;
  std::optional<std::uint16_t> segment_bytes = {};  ///< maximum segment size option
  std::optional<std::uint8_t> window_scale = {};
  std::optional<TcpTimestamps> timestamps = {};
};

/// InfiniBand base transport header; FrameSpec::payload_bytes then counts message bytes.
struct RdmaHeader {
  std::uint8_t opcode = 0;
  std::uint32_t sequence = 0;    ///< 24 bits
  std::uint32_t queue_pair = 0;  ///< destination, 24 bits
};

enum class Transport { Tcp, Udp, Rocev2 };

struct FrameSpec {
  Address source;  ///< of the same family as destination
  Address destination;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  Transport transport = Transport::Tcp;
  TcpHeader tcp = {};
  RdmaHeader rdma = {};
  std::uint32_t payload_bytes = 0;

  std::uint32_t link_type = 1;
  std::vector<std::uint16_t> vlans = {};  ///< tags, outermost first
  std::uint16_t identification = 0;       ///< IPv4
  std::uint8_t ecn = 0;
  /// Extension headers of IPv6 in order (0, 43, 44, 51, 60), eight bytes each (51: twelve).
  std::vector<std::uint8_t> extensions = {};
  std::uint32_t v4_option_bytes = 0;  ///< no-operations; a multiple of 4, at most 40
  /// In bytes, a multiple of 8. Behind 0 there is no transport header, only payload. IPv6: needs a
  /// 44 among the extensions.
  std::uint16_t fragment_offset = 0;
  bool more_fragments = false;
  bool hide_ip_length = false;    ///< write 0, as offload does; done anyhow when it does not fit
  std::uint32_t snaplen = 0;      ///< 0: keep all
  std::uint32_t least_bytes = 0;  ///< padded with zeros to this (60 for Ethernet), as hardware does
};

struct Frame {
  std::vector<std::byte> bytes;
  std::uint32_t original_bytes;
};

/// Throws SpecError for a link type that cannot be written or addresses of two families.
Frame make_frame(const FrameSpec& spec);

}  // namespace tw::packet
