// SPDX-License-Identifier: Apache-2.0
// A packet in virtual time: what ports and ends need to know of one, in a cache line.
//
// TCP counts in segments here, as Linux counts its window: segment n of a connection has a number
// and a size, and is sent again as it was.

#pragma once

#include "trainwire/netsim/time.h"
#include "trainwire/rdma/lanes.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tw::netsim {

/// Segments [begin, end).
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool operator==(const Range&) const = default;
};

/// Segments of a selective acknowledgement, counted from the one that is acknowledged as a whole.
struct Sack {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;  ///< 0: none
};

struct Packet {
  std::int32_t connection = 0;    ///< below 0: a guest's (guest.h)
  std::uint16_t frame_bytes = 0;  ///< as rates and queues count it
  std::uint8_t hop : 4 = 0;       ///< of its path, that it is at
  bool is_ack : 1 = false;        ///< goes against the connection's direction
  bool can_be_marked : 1 = false;
  bool marked : 1 = false;
  bool echoes_mark : 1 = false;     ///< an acknowledgement: ECE
  bool window_reduced : 1 = false;  ///< data: CWR
  bool duplicate : 1 = false;       ///< an acknowledgement of what was there before: DSACK
  bool is_datagram : 1 = false;
  bool is_rdma : 1 = false;    ///< of a queue pair
  bool asks_ack : 1 = false;   ///< RDMA: wants an answer at once
  bool is_nak : 1 = false;     ///< RDMA: `segment` is missing and wanted
  bool is_notice : 1 = false;  ///< RDMA: marks were seen (CNP)
  std::int64_t segment = 0;    ///< of an acknowledgement: the first that is missing
  std::int32_t payload_bytes = 0;
  std::uint32_t train = 0;  ///< segments that left the sender as one
  std::array<Sack, 3> sacks = {};
  std::int64_t byte = 0;  ///< of the stream: its first; of an acknowledgement: the first missing
  std::uint32_t sent_ms = 0;  ///< TCP's timestamps
  std::uint32_t echo_ms = 0;

  /// Where it waits on ports that hold packets back; elsewhere all wait in one queue.
  rdma::Lane lane() const {
    if (is_notice) return rdma::Lane::Urgent;
    return is_rdma ? rdma::Lane::Lossless : rdma::Lane::Shared;
  }
};
inline constexpr std::size_t kLongestPath = 15;
static_assert(sizeof(Packet) <= 64);

}  // namespace tw::netsim
