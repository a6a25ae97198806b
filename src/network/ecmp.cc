// SPDX-License-Identifier: Apache-2.0
#include "trainwire/network/ecmp.h"

#include "trainwire/base/error.h"

namespace tw::network {
namespace {

/// The finaliser of SplitMix64: every bit of the input changes half of the output's.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

std::uint64_t pair_of(std::uint32_t high, std::uint32_t low) {
  return std::uint64_t{high} << 32 | low;
}

}  // namespace

std::uint64_t flow_hash(const Flow& flow, std::uint64_t seed) {
  const std::uint64_t hosts =
      pair_of(static_cast<std::uint32_t>(flow.from), static_cast<std::uint32_t>(flow.to));
  const std::uint64_t ports = pair_of(flow.source_port, flow.destination_port);
  return mixed(mixed(mixed(seed) ^ hosts) ^ ports);
}

int hashed_way(std::uint64_t flow_hash, int node, int count) {
  check(count >= 1, "there is a way");
  const std::uint64_t here = mixed(flow_hash ^ mixed(static_cast<std::uint64_t>(node)));
  return static_cast<int>(here % static_cast<std::uint64_t>(count));
}

}  // namespace tw::network
