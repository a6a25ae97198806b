// SPDX-License-Identifier: Apache-2.0
// Any packets through a flow table with tiny budgets: nothing is lost, nothing is counted twice,
// and the budgets hold. Then the same packets as two points of view that are combined.

#include "trainwire/base/error.h"
#include "trainwire/flow/table.h"
#include "trainwire/gather/duplicates.h"
#include "trainwire/gather/vantage.h"
#include "trainwire/packet/packet.h"

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace tw::gather {

using namespace flow;
namespace {

constexpr TableOptions kTiny{.window_ns = 1000,
                             .burst_gap_ns = 100,
                             .idle_ns = 1'000'000,
                             .small_bytes = 1000,
                             .most_connections = 4,
                             .most_windows = 16,
                             .most_bursts = 8,
                             .milestones = true};

/// A packet in 24 bytes. Few addresses and ports, so that packets meet; any numbers and times.
struct Raw {
  std::int64_t time_ns;
  std::uint32_t sequence;
  std::uint32_t acknowledgement;
  std::uint16_t payload;
  std::uint8_t ends;  ///< addresses and ports, two bits each
  std::uint8_t flags;
  std::uint16_t identification;
  std::uint16_t timestamp;
};
static_assert(sizeof(Raw) == 24);

std::vector<packet::Packet> packets_of(std::span<const std::uint8_t> bytes) {
  std::vector<packet::Packet> packets;
  for (; bytes.size() >= sizeof(Raw) && packets.size() < 4096; bytes = bytes.subspan(sizeof(Raw))) {
    Raw raw;
    std::memcpy(&raw, bytes.data(), sizeof raw);
    packet::Packet packet{};
    packet.time_ns = raw.time_ns;
    packet.source = 1 + (raw.ends & 3);
    packet.destination = 1 + (raw.ends >> 2 & 3);
    packet.source_port = raw.ends >> 4 & 3;
    packet.destination_port = raw.ends >> 6;
    packet.sequence = raw.sequence;
    packet.acknowledgement = raw.acknowledgement & 0xffffff;
    packet.payload_bytes = raw.payload;
    packet.wire_bytes = raw.payload + 54u;
    packet.tcp_flags = raw.flags;
    packet.identification = raw.identification;
    packet.timestamp_value = raw.timestamp;
    packet.ecn = raw.flags >> 6;
    packet.segment_bytes = static_cast<std::uint16_t>(raw.acknowledgement);
    packet.verdict = static_cast<packet::Verdict>(
        raw.time_ns % packet::kVerdicts < 0 ? 0 : raw.time_ns % packet::kVerdicts);
    packet.ip_protocol = packet.verdict == packet::Verdict::Tcp ? 6 : 17;
    if (packet.verdict >= packet::Verdict::NotIp) packet.source = packet.destination = 0;
    packets.push_back(packet);
  }
  return packets;
}

void check_flow(const Flow& flow) {
  check(flow.retransmitted_bytes + flow.aside_bytes <= flow.payload_bytes,
        "a flow repeats no more than it sent");
  check(flow.recovered_bytes + flow.reordered_bytes <= flow.stream_bytes(),
        "what came late is part of the stream");
  check(flow.first_ns <= flow.last_ns, "a flow ends after it began");
  check(flow.series.bytes() == flow.wire_bytes, "windows hold every byte");
  check(flow.estimated_wire_packets >= flow.packets, "a packet is at least one frame");
  std::uint64_t bytes = 0;
  for (const Burst& burst : flow.bursts) bytes += burst.bytes;
  check(bytes == flow.stream_bytes(), "bursts hold every new byte");
}

void check_view(const View& view, std::uint64_t packets, std::uint64_t bytes) {
  check(view.totals.packets == packets && view.totals.wire_bytes == bytes, "all is counted once");
  check(view.series.bytes() == bytes, "the series holds every byte");
  std::uint64_t in_pairs = 0;
  for (const PairCount& pair : view.pairs) {
    in_pairs += pair.packets;
    check(pair.stream_bytes + pair.retransmitted_bytes <= pair.payload_bytes,
          "pairs conserve bytes");
  }
  std::uint64_t addressed = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(packet::Verdict::NotIp); ++i) {
    addressed += view.totals.by_verdict[i];
  }
  check(in_pairs == addressed, "every packet with addresses is in one pair");
}

View followed(std::span<const packet::Packet> packets) {
  std::uint64_t retired = 0;
  FlowTable table(kTiny, [&](const Flow& flow) {
    check_flow(flow);
    retired += flow.packets;
  });
  for (std::size_t i = 0; i < packets.size(); i += 7) {
    table.take(packets.subspan(i, std::min<std::size_t>(7, packets.size() - i)));
    check(table.live_connections() <= kTiny.most_connections, "connections stay within the budget");
  }
  View view = view_of(table);
  std::uint64_t in_flows = retired;
  for (const Flow& flow : view.flows) {
    check_flow(flow);
    in_flows += flow.packets;
  }
  const auto& kinds = view.totals.by_verdict;
  check(in_flows == kinds[0] + kinds[1] + kinds[2], "every packet with ports is in one flow");
  return view;
}

void run(std::span<const std::uint8_t> input) {
  std::vector<packet::Packet> packets = packets_of(input);
  std::uint64_t bytes = 0;
  for (const packet::Packet& packet : packets) bytes += packet.wire_bytes;
  const View view = followed(packets);
  check_view(view, packets.size(), bytes);
  // The same twice is the same once, except for what was only counted, which need not be equal.
  const Combined combined = combine({view, view});
  check_view(combined.view, packets.size(), bytes);
  Duplicates duplicates;
  const std::size_t kept = duplicates.drop(packets);
  check(kept + duplicates.dropped() == packets.size(), "a packet is kept or dropped");
}

}  // namespace
}  // namespace tw::gather

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tw::gather::run({data, size});
  return 0;
}
