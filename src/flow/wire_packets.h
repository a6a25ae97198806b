// SPDX-License-Identifier: Apache-2.0
// How many frames a flow was on the wire when the capture shows it before segmentation or after
// aggregation.
//
// The segment size is, in this order: the smaller maximum segment size that the two SYNs announce,
// less 12 for timestamps; the largest payload, when it fits a jumbo frame, is no multiple of 1,448
// or 1,460 and at least half of the large packets have it; the largest payload of at most 1,460
// bytes, when some packet is larger (a train's last segment, so a little low); 1,448.
//
// Limits: large packets count as their bytes divided by that size, rounded up once for all of them
// and not for each, so the estimate is low by at most one frame for each of them. Headers that
// segmentation would repeat are not in wire_bytes.

#pragma once

#include "trainwire/flow/flow.h"

#include <cstdint>

namespace tw::flow {

/// `peer_segment`: the maximum segment size in the other direction's SYN; 0: unknown.
std::uint32_t segment_payload(const Flow& flow, std::uint32_t peer_segment);
std::uint64_t estimated_wire_packets(const Flow& flow, std::uint32_t peer_segment);

}  // namespace tw::flow
