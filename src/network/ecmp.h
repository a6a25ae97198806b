// SPDX-License-Identifier: Apache-2.0
// Which of several equally short ways a flow takes, when switches hash it: equal-cost multipath.
//
// A switch divides a hash of the flow's addresses and ports by the number of ways and takes the
// remainder, so a flow keeps its way and is never reordered (RFC 2992). Every switch mixes its own
// number into the hash: with one hash for all, flows that chose the same way below would choose
// the same one above and leave the others empty.
//
// Limits: real switches differ in the hash and in the fields that they take; this one spreads like
// a good one, and which flows collide is not to be compared with any product.

#pragma once

#include <cstdint>

namespace tw::network {

/// One direction of a connection. Hosts are numbered as in the network.
struct Flow {
  int from = 0;
  int to = 0;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
};

/// What switches see of a flow. Networks with different seeds spread the same flows differently.
std::uint64_t flow_hash(const Flow& flow, std::uint64_t seed);

/// The way that switch `node` takes, of `count`. REQUIRES: count >= 1.
int hashed_way(std::uint64_t flow_hash, int node, int count);

}  // namespace tw::network
