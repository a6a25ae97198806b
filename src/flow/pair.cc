// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/pair.h"

namespace tw::flow {
namespace {

constexpr std::size_t kFirstSlots = 64;

}  // namespace

packet::Verdict verdict_of(const FlowKey& key) {
  if (key.is_tcp()) return packet::Verdict::Tcp;
  return key.is_rocev2() ? packet::Verdict::Rocev2 : packet::Verdict::Udp;
}

void add_flow(PairCount& pair, const Flow& flow) {
  pair.packets += flow.packets;
  pair.wire_bytes += flow.wire_bytes;
  pair.payload_bytes += flow.payload_bytes;
  pair.stream_bytes += flow.stream_bytes();
  pair.retransmitted_bytes += flow.retransmitted_bytes;
  pair.super_frames += flow.super_frames;
  pair.by_verdict[static_cast<std::size_t>(verdict_of(flow.key))] += flow.packets;
}

PairTable::PairTable(std::size_t most) : most_(most), slots_(kFirstSlots) {}

std::size_t PairTable::place_of(std::uint32_t source, std::uint32_t destination) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_(source, destination) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const PairCount& count = counts_[slots_[slot] - 1];
    if (count.source == source && count.destination == destination) break;
  }
  return slot;
}

PairCount& PairTable::at(std::uint32_t source, std::uint32_t destination) {
  std::size_t slot = place_of(source, destination);
  if (slots_[slot] != 0) return counts_[slots_[slot] - 1];
  const bool is_rest = source == 0 && destination == 0;
  if (counts_.size() >= most_ && !is_rest) return at(0, 0);
  if (counts_.size() * 2 >= slots_.size()) {
    grow();
    slot = place_of(source, destination);
  }
  counts_.push_back({.source = source, .destination = destination});
  slots_[slot] = static_cast<std::uint32_t>(counts_.size());
  return counts_.back();
}

void PairTable::grow() {
  slots_.assign(slots_.size() * 2, 0);
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    slots_[place_of(counts_[i].source, counts_[i].destination)] = static_cast<std::uint32_t>(i + 1);
  }
}

}  // namespace tw::flow
