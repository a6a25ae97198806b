// SPDX-License-Identifier: Apache-2.0
// A flow: one direction of a five-tuple, delimited by SYN, FIN, RST or idleness, and what was
// counted of it.
//
// This is the header to read first. packets -> FlowTable (table.h) -> Flow -> iterations.h,
// recognise.h, findings.h.
//
// Conservation: payload_bytes = stream_bytes() + retransmitted_bytes + aside_bytes.

#pragma once

#include "trainwire/flow/envelope.h"
#include "trainwire/flow/milestone.h"
#include "trainwire/flow/series.h"
#include "trainwire/flow/tcp_stream.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tw::flow {

/// Addresses are numbers of the analysis' AddressTable.
struct FlowKey {
  std::uint32_t source;
  std::uint32_t destination;
  std::uint16_t source_port;  ///< RoCEv2: 0, for it only spreads one queue pair's packets
  std::uint16_t destination_port;
  std::uint8_t protocol;
  std::uint32_t queue_pair = 0;  ///< RoCEv2: destination queue pair + 1; 0 for everything else
  auto operator<=>(const FlowKey&) const = default;

  bool is_tcp() const { return protocol == 6; }
  bool is_rocev2() const { return queue_pair != 0; }
};

/// A stretch in which a flow sent payload with no pause longer than the table's burst gap.
struct Burst {
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint64_t bytes;  ///< new stream bytes
  std::uint32_t packets;
};

/// Round-trip samples: data (or SYN) to the acknowledgement that covers it, never of retransmitted
/// data (Karn's rule) nor of data sent behind a hole.
struct RoundTrips {
  std::uint64_t count = 0;
  std::int64_t least_ns = 0;
  std::int64_t most_ns = 0;
  std::int64_t sum_ns = 0;

  void add(std::int64_t sample_ns) {
    least_ns = count == 0 ? sample_ns : std::min(least_ns, sample_ns);
    most_ns = std::max(most_ns, sample_ns);
    sum_ns += sample_ns;
    ++count;
  }
};

struct Flow {
  FlowKey key;
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
  std::uint64_t packets = 0;
  std::uint64_t wire_bytes = 0;  ///< original frame lengths
  std::uint64_t payload_bytes = 0;
  std::uint64_t retransmitted_bytes = 0;  ///< known bytes again; RoCEv2: of repeated packets
  std::uint64_t recovered_bytes = 0;      ///< sent again, first copy not seen
  std::uint64_t reordered_bytes = 0;
  std::uint64_t aside_bytes = 0;  ///< payload outside the stream: keep-alive probes, text in resets
  std::uint64_t retransmitted_packets = 0;
  std::uint64_t acknowledgement_packets = 0;  ///< TCP without stream data, SYN, FIN or RST
  std::uint64_t large_packets = 0;            ///< more payload than a frame of 1,514 bytes holds
  std::uint64_t large_payload_bytes = 0;      ///< of these
  std::uint64_t super_frames = 0;             ///< offload for certain, see capture::Packet
  std::uint64_t marked_packets = 0;           ///< ECN congestion experienced
  std::uint32_t largest_payload = 0;
  std::uint32_t ordinary_payload = 0;  ///< largest that is not large
  std::uint32_t full_packets = 0;      ///< with largest_payload; saturates
  std::uint16_t announced_segment =
      0;                        ///< maximum segment size in this direction's SYN; 0: unknown
  bool has_timestamps = false;  ///< TCP timestamp option
  bool saw_syn = false;
  bool saw_fin = false;
  bool saw_reset = false;
  bool cross = false;  ///< known to be cross traffic, because whoever made it says so
  int job = -1;        ///< number of the job that it belongs to, where whoever made it says so
  /// Frames that it was on the wire, with offload's super-frames taken apart: see wire_packets.h.
  std::uint64_t estimated_wire_packets = 0;
  std::int64_t longest_pause_ns = 0;  ///< between packets with payload; 0 below the burst gap
  RoundTrips round_trips = {};
  TcpStream stream = {};
  Series series = {};              ///< wire bytes
  std::vector<Burst> bursts = {};  ///< payload, in time order
  Envelope envelope = {};
  /// The same by the times at which packets came, where the receiver was captured as well.
  Series arrived = {};
  Envelope arrivals = {};
  /// Of sequence and acknowledgement numbers; empty unless the table was asked for them.
  Milestones sent = {};
  Milestones acknowledged = {};

  /// Distinct payload bytes: in sequence space for TCP, without repeats for RoCEv2.
  std::uint64_t stream_bytes() const { return payload_bytes - retransmitted_bytes - aside_bytes; }
};

}  // namespace tw::flow
