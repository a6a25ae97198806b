// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/wire_packets.h"

#include "trainwire/packet/packet.h"

#include <algorithm>

namespace tw::flow {
namespace {

constexpr std::uint32_t kTimestampBytes = 12;
constexpr std::uint32_t kOrdinarySegment = 1448;
constexpr std::uint32_t kJumboPayload = packet::kLargestWireFrame - 14 - 40;

bool looks_like_jumbo_frames(const Flow& flow) {
  const std::uint32_t largest = flow.largest_payload;
  return largest <= kJumboPayload && largest % 1448 != 0 && largest % 1460 != 0 &&
         2 * std::uint64_t{flow.full_packets} >= flow.large_packets;
}

}  // namespace

std::uint32_t segment_payload(const Flow& flow, std::uint32_t peer_segment) {
  const std::uint32_t own = flow.announced_segment;
  const std::uint32_t announced =
      own == 0 || peer_segment == 0 ? std::max(own, peer_segment) : std::min(own, peer_segment);
  if (announced > 2 * kTimestampBytes) {
    return announced - (flow.has_timestamps ? kTimestampBytes : 0);
  }
  if (flow.large_packets == 0) return std::max(flow.largest_payload, 1u);
  if (looks_like_jumbo_frames(flow)) return flow.largest_payload;
  // The rest of a super-frame is mostly shorter than a segment: small ones say nothing.
  return flow.ordinary_payload >= 1200 ? flow.ordinary_payload : kOrdinarySegment;
}

std::uint64_t estimated_wire_packets(const Flow& flow, std::uint32_t peer_segment) {
  const std::uint64_t segment = segment_payload(flow, peer_segment);
  const std::uint64_t segments = (flow.large_payload_bytes + segment - 1) / segment;
  return flow.packets - flow.large_packets + std::max(segments, flow.large_packets);
}

}  // namespace tw::flow
