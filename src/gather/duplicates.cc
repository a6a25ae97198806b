// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/duplicates.h"

#include <algorithm>

namespace tw::gather {
namespace {

using packet::Packet;
using packet::Verdict;

constexpr std::size_t kEntries = 1 << 14;  ///< a millisecond at 16 million packets a second
constexpr std::int64_t kWithinNs = 1'000'000;
constexpr std::uint64_t kFirstBatches = 4;
constexpr std::uint64_t kEvery = 64;

bool has_addresses(const Packet& p) { return p.source != 0 || p.destination != 0; }

/// Whether an equal packet must be a copy.
bool is_unmistakable(const Packet& p) {
  if (p.verdict == Verdict::Tcp) return p.payload_bytes > 0 || p.identification != 0;
  return p.verdict == Verdict::Udp && p.identification != 0;
}

}  // namespace

std::uint64_t Duplicates::identity_of(const Packet& p) const {
  const auto joined = [](std::uint64_t high, std::uint32_t low) { return high << 32 | low; };
  std::uint64_t h = hash_(joined(p.source, p.destination), joined(p.sequence, p.acknowledgement));
  h = hash_(h, joined(p.timestamp_value, p.payload_bytes));
  h = hash_(h, joined(p.timestamp_echo, std::uint32_t{p.source_port} << 16 | p.destination_port));
  return hash_(h, joined(std::uint32_t{p.window} << 16 | p.identification,
                         static_cast<std::uint32_t>(p.distinction) << 16 |
                             static_cast<std::uint32_t>(p.tcp_flags << 8 | p.ip_protocol)));
}

Duplicates::Seen& Duplicates::entry_of(const Packet& packet, bool& known) {
  const std::uint64_t identity = identity_of(packet);
  Seen& seen = seen_[identity % kEntries];
  const std::uint64_t apart =
      static_cast<std::uint64_t>(packet.time_ns) - static_cast<std::uint64_t>(seen.time_ns);
  known = seen.identity == identity && apart <= kWithinNs;
  if (!known) seen = {.identity = identity, .time_ns = packet.time_ns, .copies = 0};
  return seen;
}

void Duplicates::examine(std::span<const Packet> batch) {
  seen_.assign(kEntries, {});
  std::uint64_t unmistakable = 0;
  std::uint64_t repeats = 0;
  for (const Packet& packet : batch) {
    if (!is_unmistakable(packet)) continue;
    bool known = false;
    entry_of(packet, known);
    ++unmistakable;
    repeats += known ? 1 : 0;
  }
  if (repeats >= 2 && 10 * repeats >= unmistakable) {
    const std::uint64_t distinct = unmistakable - repeats;
    const std::uint64_t times_seen = (unmistakable + distinct / 2) / distinct;
    copies_ = static_cast<std::uint32_t>(std::max<std::uint64_t>(times_seen, 2) - 1);
  }
  seen_.assign(kEntries, {});
}

std::size_t Duplicates::drop(std::span<Packet> batch) {
  const bool look = batches_ < kFirstBatches || batches_ % kEvery == 0;
  ++batches_;
  if (copies_ == 0 && look) examine(batch);
  if (copies_ == 0) return batch.size();
  std::size_t kept = 0;
  for (const Packet& packet : batch) {
    bool known = false;
    if (has_addresses(packet)) {
      Seen& seen = entry_of(packet, known);
      if (known && seen.copies < copies_) {
        ++seen.copies;
        ++dropped_;
        continue;
      }
      if (known) seen.copies = 0;  // the next one of several equal packets
    }
    batch[kept++] = packet;
  }
  return kept;
}

}  // namespace tw::gather
