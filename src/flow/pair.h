// SPDX-License-Identifier: Apache-2.0
// Directed pairs of addresses and what passed between them, every IP packet counted.

#pragma once

#include "trainwire/flow/flow.h"
#include "trainwire/flow/hash.h"
#include "trainwire/packet/packet.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tw::flow {

struct PairCount {
  std::uint32_t source;
  std::uint32_t destination;
  std::uint64_t packets = 0;
  std::uint64_t wire_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t stream_bytes = 0;
  std::uint64_t retransmitted_bytes = 0;
  std::uint64_t super_frames = 0;
  std::uint64_t retired_flows = 0;       ///< small finished flows that are only counted here
  std::uint64_t retired_tiny_flows = 0;  ///< of these, with at most kTinyBytes of payload
  std::array<std::uint64_t, packet::kVerdicts> by_verdict = {};  ///< packets
};

inline constexpr std::uint64_t kTinyBytes = 256;

packet::Verdict verdict_of(const FlowKey& key);
void add_flow(PairCount& pair, const Flow& flow);

/// Open addressing on the pair of address numbers; a reference stays valid until the next at().
/// Memory is bounded: pairs beyond `most` share the entry of the pair (0, 0).
class PairTable {
 public:
  static constexpr std::size_t kMost = 250'000;
  explicit PairTable(std::size_t most = kMost);
  PairCount& at(std::uint32_t source, std::uint32_t destination);
  const std::vector<PairCount>& counts() const { return counts_; }

 private:
  std::size_t place_of(std::uint32_t source, std::uint32_t destination) const;
  void grow();

  Hash hash_;
  std::size_t most_;
  std::vector<std::uint32_t> slots_;  ///< index in counts_ + 1; 0 is free
  std::vector<PairCount> counts_;
};

}  // namespace tw::flow
