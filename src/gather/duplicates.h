// SPDX-License-Identifier: Apache-2.0
// Packets that one capture recorded twice or more: on "any", once for each interface that they
// passed; on a mirror of several ports, once for each port.
//
// A copy has the same addresses, ports, identification, sequence and acknowledgement numbers,
// flags, time stamps, length, UDP checksum and place in a fragmented datagram as another packet at
// most 1 ms before. Copies are dropped only when
// the file shows them systematically: when at least a tenth of the packets of a batch that can be
// told apart (TCP with data or with an IP identification; UDP with one) are copies. The first
// batches of a file are examined, later on one in sixty-four; dropping begins with the batch that
// showed it and lasts to the end of the file.
//
// Limits: once dropping, equal packets without identification (IPv6 acknowledgements) are taken for
// copies in proportion: of two equal ones in a capture that shows everything twice, one is kept.

#pragma once

#include "trainwire/flow/hash.h"
#include "trainwire/packet/packet.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tw::gather {

class Duplicates {
 public:
  /// Moves what is no copy to the front, in order; returns how many that are. Batches in capture
  /// order.
  std::size_t drop(std::span<packet::Packet> batch);
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct Seen {
    std::uint64_t identity = 0;
    std::int64_t time_ns = 0;
    std::uint32_t copies = 0;  ///< dropped of it
  };
  void examine(std::span<const packet::Packet> batch);
  std::uint64_t identity_of(const packet::Packet& packet) const;
  /// The entry of a packet that was seen within the last millisecond, or a new one with 0 copies.
  Seen& entry_of(const packet::Packet& packet, bool& known);

  flow::Hash hash_;
  std::vector<Seen> seen_;
  std::uint64_t batches_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint32_t copies_ = 0;  ///< of each packet, to be dropped; 0 while nothing was found
};

}  // namespace tw::gather
