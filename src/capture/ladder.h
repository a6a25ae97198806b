// SPDX-License-Identifier: Apache-2.0
// Captures written as text, after packetdrill: what tests of flows read like.
//
//     0.000  a > b  S            mss 1460 wscale 7
//     0.001  b > a  S            ack 1
//     0.002  a > b  1:1001       ts 100 50
//    +0.200  a.6000 > b.29500  1:1001   # a comment
//     0.210  b > a  ack 1001
//     0.300  a > c  udp 500
//     0.400  a > c  roce 10 77 5 4096
//
// A line is TIME FROM > TO and what the packet carries. Times are seconds from the start of the
// capture; +SECONDS counts from the line before. Hosts are letters, a = 10.0.0.1 (fd00::1) to z;
// ports follow a dot and are 5001 otherwise. Items, in any order:
//
//   FROM:TO         TCP stream bytes; without it, none, at the sender's next sequence number
//   S F R P U E C   flags SYN FIN RST PSH URG ECE CWR, written together; "." for none of them
//   ack N           without it, what the sender acknowledged last: 1 at first; a SYN nothing
//   ts VALUE ECHO   timestamps; also: win N, mss N, wscale N, ecn N, id N
//   vlan N          a tag; again for an inner one
//   udp N           a datagram of N bytes
//   roce OPCODE PSN QUEUE_PAIR BYTES
//
// Sequence numbers are relative: 0 is the SYN, 1 the first byte. On the wire they begin at `isn`
// for the host that speaks first on a connection and at `reply_isn` for the other.

#pragma once

#include "trainwire/packet/address_table.h"
#include "trainwire/packet/packet.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tw::capture {

struct LadderOptions {
  std::uint32_t isn = 1'000'000;
  std::uint32_t reply_isn = 2'000'000;
  std::int64_t start_ns = 1'700'000'000'000'000'000;
  std::uint32_t link_type = 1;
  std::uint32_t snaplen = 0;  ///< 0: whole frames
  bool v6 = false;
};

/// Initial sequence numbers worth testing: ordinary, at the sign change, and where the first
/// kilobyte, the first byte or the SYN itself meets the wrap-around.
inline constexpr std::array<std::uint32_t, 6> kTryingIsns = {1'000'000,  0,          0x7ffffff0,
                                                             0xfffffc18, 0xfffffffe, 0xffffffff};

struct LadderFrame {
  std::int64_t time_ns;
  std::vector<std::byte> bytes;
  std::uint32_t original_bytes;
};

/// Throws SpecError naming the line that is wrong.
std::vector<LadderFrame> ladder(std::string_view text, const LadderOptions& options = {});

/// As a reader would deliver them.
struct LadderPackets {
  std::vector<packet::Packet> packets;
  packet::AddressTable addresses;

  /// The address number of host `letter`. REQUIRES: the host occurs in the ladder.
  std::uint32_t host(char letter) const;
};
LadderPackets ladder_packets(std::string_view text, const LadderOptions& options = {});

/// A pcap file with nanoseconds, to be read back, compared with other tools or written to disk.
std::vector<std::byte> ladder_pcap(std::string_view text, const LadderOptions& options = {});

/// The address of host `letter`.
packet::Address ladder_address(char letter, bool v6 = false);

}  // namespace tw::capture
