// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/table.h"

#include "trainwire/flow/bursts.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

namespace tw::flow {
namespace {

using packet::Packet;
using packet::Verdict;

constexpr std::size_t kFirstSlots = 8192;
/// The largest payload of an Ethernet frame of 1,514 bytes.
constexpr std::uint32_t kOrdinaryPayload = 1460;
/// A longer way to the acknowledgement is none: the acknowledgement is of something else.
constexpr std::int64_t kLongestRoundTripNs = 600'000'000'000;

constexpr std::uint8_t kDelimiters = packet::kSyn | packet::kFin | packet::kRst;

bool has_flow(Verdict verdict) { return verdict <= Verdict::Rocev2; }
static_assert(static_cast<int>(Verdict::Rocev2) == 2);

bool is_rocev2_response(std::uint8_t opcode) {
  // Reliable connection: read responses 13 to 16, acknowledgements 17 and 18.
  return opcode >= 13 && opcode <= 18;
}

bool is_rocev2_acknowledgement(std::uint8_t opcode) {
  constexpr std::uint8_t kCongestionNotification = 0x81;
  return opcode == 17 || opcode == 18 || opcode == kCongestionNotification;
}

}  // namespace

FlowTable::FlowTable(TableOptions options, Retire retire)
    : options_(options),
      retire_(std::move(retire)),
      clock_{.origin_ns = 0, .width_ns = options.window_ns},
      burst_gap_ns_(options.burst_gap_ns),
      slots_(std::min(kFirstSlots, std::bit_ceil(2 * options.most_connections))) {}

void FlowTable::limit(std::size_t most_windows, std::size_t most_bursts) {
  options_.most_windows = most_windows;
  options_.most_bursts = most_bursts;
}

inline FlowTable::Ends FlowTable::ends_of(const Packet& p) {
  const auto end = [](std::uint32_t address, std::uint16_t port) {
    return static_cast<std::uint64_t>(address) << 16 | port;
  };
  if (p.verdict == Verdict::Rocev2) [[unlikely]] {
    return {end(p.source, 0), end(p.destination, p.destination_port),
            p.ip_protocol | std::uint64_t{p.acknowledgement + 1} << 8};
  }
  return {end(p.source, p.source_port), end(p.destination, p.destination_port), p.ip_protocol};
}

void FlowTable::take(std::span<const Packet> packets) {
  if (packets.empty()) return;
  if (totals_.packets == 0) {
    const std::int64_t first_ns = sane_time(packets.front().time_ns);
    totals_.first_ns = totals_.last_ns = first_ns;
    clock_.origin_ns = first_ns - first_ns % clock_.width_ns;
  }
  std::array<Place, kTogether> places;
  while (!packets.empty()) {
    const auto together = packets.first(std::min(kTogether, packets.size()));
    look_up(together, places);
    count(together);
    for (std::size_t i = 0; i < together.size(); ++i) take_one(together[i], places[i]);
    packets = packets.subspan(together.size());
  }
  if (windows_ > options_.most_windows) fold_windows();
  if (bursts_ > options_.most_bursts) widen_bursts();
  if (finished_.size() > 2 * options_.most_connections) trim_finished();
}

inline void FlowTable::look_up(std::span<const Packet> packets,
                               std::array<Place, kTogether>& places) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    places[i].ends = ends_of(packets[i]);
    places[i].hash = hash_of(places[i].ends);
    __builtin_prefetch(&slots_[places[i].hash & mask]);
  }
  for (std::size_t i = 0; i < packets.size(); ++i) {
    // Packets come in trains: mostly the connection is the one of the packet before.
    if (i > 0 && places[i].hash == places[i - 1].hash) continue;
    const Connection* connection = slots_[places[i].hash & mask].connection;
    if (connection == nullptr) continue;
    __builtin_prefetch(connection, 1);
    for (const Lane& lane : connection->lanes) {
      __builtin_prefetch(&lane, 1);
      __builtin_prefetch(&lane.burst, 1);
    }
  }
}

inline void FlowTable::count(std::span<const Packet> packets) {
  std::uint64_t wire_bytes = 0;
  std::int64_t last_ns = totals_.last_ns;
  bool ordinary = true;
  for (const Packet& packet : packets) {
    wire_bytes += packet.wire_bytes;
    // Single & on purpose: no branch a packet.
    ordinary &=
        (packet.verdict == Verdict::Tcp) & !packet.super_frame & (packet.time_ns >= last_ns);
    last_ns = packet.time_ns;
  }
  if (!ordinary || last_ns != sane_time(last_ns)) return count_each(packets);
  totals_.packets += packets.size();
  totals_.wire_bytes += wire_bytes;
  totals_.by_verdict[static_cast<std::size_t>(Verdict::Tcp)] += packets.size();
  totals_.last_ns = last_ns;
}

void FlowTable::count_each(std::span<const Packet> packets) {
  Totals totals = totals_;
  totals.packets += packets.size();
  for (const Packet& packet : packets) {
    const std::int64_t time_ns = sane_time(packet.time_ns);
    totals.wire_bytes += packet.wire_bytes;
    ++totals.by_verdict[static_cast<std::size_t>(packet.verdict)];
    totals.super_frames += packet.super_frame ? 1 : 0;
    totals.backward_times += time_ns < totals.last_ns ? 1 : 0;
    totals.first_ns = std::min(totals.first_ns, time_ns);
    totals.last_ns = std::max(totals.last_ns, time_ns);
  }
  totals_ = totals;
}

[[gnu::always_inline]] inline void FlowTable::take_one(const Packet& packet, const Place& place) {
  const std::int64_t time_ns = sane_time(packet.time_ns);
  if (!window_.add(time_ns, clock_.width_ns, packet.wire_bytes)) [[unlikely]] {
    move_window(series_, window_, time_ns, packet.wire_bytes);
  }
  if (!has_flow(packet.verdict)) [[unlikely]]
    return count_without_flow(packet);

  std::size_t side = 0;
  Connection& connection = connection_of(place, side);
  if (starts_anew(connection, side, packet, time_ns)) [[unlikely]] {
    start_anew(connection);
  }
  Lane& lane = connection.lanes[side];
  if (lane.packets++ == 0) [[unlikely]] {
    lane.flow.first_ns = lane.last_ns = time_ns;
  }
  if (time_ns < lane.last_ns) [[unlikely]]
    lane.flow.first_ns = std::min(lane.flow.first_ns, time_ns);
  lane.last_ns = std::max(lane.last_ns, time_ns);
  lane.wire_bytes += packet.wire_bytes;
  lane.payload_bytes += packet.payload_bytes;
  if (!lane.window.add(time_ns, clock_.width_ns, packet.wire_bytes)) {
    move_window(lane.flow.series, lane.window, time_ns, packet.wire_bytes);
  }
  if (packet.ecn == 3) [[unlikely]]
    ++lane.flow.marked_packets;
  if (packet.super_frame) [[unlikely]]
    ++lane.flow.super_frames;
  if (packet.verdict == Verdict::Tcp) [[likely]]
    return take_tcp(connection, side, packet, time_ns);
  if (packet.verdict == Verdict::Rocev2) return take_rocev2(connection, packet, time_ns);
  if (packet.payload_bytes > 0) {
    note_payload(lane, time_ns, packet.payload_bytes, packet.payload_bytes);
  }
}

[[gnu::always_inline]] inline void FlowTable::take_tcp(Connection& connection, std::size_t side,
                                                       const Packet& packet, std::int64_t time_ns) {
  Lane& lane = connection.lanes[side];
  // What it acknowledges may end a round trip of the other side.
  Sample& waiting = connection.samples[1 - side];
  if (waiting.sent_ns != Sample::kNone && (packet.tcp_flags & packet::kAck) != 0 &&
      static_cast<std::int32_t>(packet.acknowledgement - waiting.end_sequence) >= 0) {
    if (time_ns >= waiting.sent_ns && time_ns - waiting.sent_ns <= kLongestRoundTripNs) {
      connection.lanes[1 - side].flow.round_trips.add(time_ns - waiting.sent_ns);
    }
    waiting.sent_ns = Sample::kNone;
  }
  if (connection.tracked) [[unlikely]]
    note_milestones(lane.flow, packet, time_ns);
  const bool ordinary = (packet.tcp_flags & kDelimiters) == 0;
  if (!ordinary || !lane.stream.take_next(packet.sequence, packet.payload_bytes)) [[unlikely]] {
    return take_odd_segment(connection, side, packet, time_ns);
  }
  if (packet.payload_bytes == 0) {
    ++lane.acknowledgement_packets;
    return;
  }
  Sample& sample = connection.samples[side];
  if (sample.sent_ns == Sample::kNone) {
    sample = {.sent_ns = time_ns, .end_sequence = packet.sequence + packet.payload_bytes};
  }
  note_payload(lane, time_ns, packet.payload_bytes, packet.payload_bytes);
}

void FlowTable::take_odd_segment(Connection& connection, std::size_t side, const Packet& packet,
                                 std::int64_t time_ns) {
  Lane& lane = connection.lanes[side];
  Flow& flow = lane.flow;
  Sample& sample = connection.samples[side];
  const bool syn = (packet.tcp_flags & packet::kSyn) != 0;
  const bool fin = (packet.tcp_flags & packet::kFin) != 0;
  flow.has_timestamps |= packet.timestamp_value != 0;
  // A reset's sequence number need not belong to the stream, and what it carries does not.
  if ((packet.tcp_flags & packet::kRst) != 0) {
    flow.saw_reset = true;
    flow.aside_bytes += packet.payload_bytes;
    return;
  }
  const bool first_syn = syn && !flow.saw_syn;
  flow.saw_syn |= syn;
  flow.saw_fin |= fin;
  if (syn) flow.announced_segment = packet.segment_bytes;
  const SegmentBytes bytes =
      lane.stream.take(time_ns, packet.sequence, packet.payload_bytes, syn, fin);
  if (packet.payload_bytes == 0 || bytes.keep_alive) {
    flow.aside_bytes += packet.payload_bytes;
    lane.acknowledgement_packets += syn || fin ? 0 : 1;
    if (syn) sample.sent_ns = Sample::kNone;
    if (first_syn) sample = {.sent_ns = time_ns, .end_sequence = packet.sequence + 1};
    return;
  }
  if (bytes.in_order != packet.payload_bytes) {
    flow.retransmitted_bytes += bytes.retransmitted;
    flow.recovered_bytes += bytes.recovered;
    flow.reordered_bytes += bytes.reordered;
    flow.retransmitted_packets += bytes.retransmitted + bytes.recovered > 0 ? 1 : 0;
    sample.sent_ns = Sample::kNone;
  } else if (sample.sent_ns == Sample::kNone && lane.stream.missing_bytes() == 0) {
    sample = {.sent_ns = time_ns, .end_sequence = lane.stream.next_sequence()};
  }
  note_payload(lane, time_ns, packet.payload_bytes, bytes.fresh());
}

void FlowTable::take_rocev2(Connection& connection, const Packet& packet, std::int64_t time_ns) {
  Lane& lane = connection.lanes[0];
  const std::uint8_t opcode = packet.tcp_flags;
  const bool response = is_rocev2_response(opcode);
  if (connection.tracked) {
    // Shifted up, 24 bits wrap where 32 do.
    (response ? lane.flow.acknowledged : lane.flow.sent).pass(time_ns, packet.sequence << 8);
  }
  if (is_rocev2_acknowledgement(opcode)) {
    ++lane.acknowledgement_packets;
    lane.flow.aside_bytes += packet.payload_bytes;
    return;
  }
  const bool repeat = lane.psn[response ? 1 : 0].is_repeat(packet.sequence);
  if (repeat) {
    ++lane.flow.retransmitted_packets;
    lane.flow.retransmitted_bytes += packet.payload_bytes;
  }
  if (packet.payload_bytes > 0) {
    note_payload(lane, time_ns, packet.payload_bytes, repeat ? 0 : packet.payload_bytes);
  }
}

void FlowTable::note_milestones(Flow& flow, const Packet& packet, std::int64_t time_ns) {
  if ((packet.tcp_flags & packet::kRst) != 0) return;
  const bool takes_a_number = (packet.tcp_flags & (packet::kSyn | packet::kFin)) != 0;
  flow.sent.pass(time_ns, packet.sequence + packet.payload_bytes + (takes_a_number ? 1 : 0));
  if ((packet.tcp_flags & packet::kAck) != 0) {
    flow.acknowledged.pass(time_ns, packet.acknowledgement);
  }
}

[[gnu::always_inline]] inline void FlowTable::note_payload(Lane& lane, std::int64_t time_ns,
                                                           std::uint32_t payload,
                                                           std::uint32_t fresh) {
  if (payload >= lane.largest_payload) {
    if (payload > lane.largest_payload) lane.full_packets = 0;
    lane.largest_payload = payload;
    lane.full_packets += lane.full_packets != ~0u ? 1 : 0;
  }
  if (payload <= kOrdinaryPayload) {
    lane.ordinary_payload = std::max(lane.ordinary_payload, payload);
  } else {
    ++lane.flow.large_packets;
    lane.flow.large_payload_bytes += payload;
  }
  lane.flow.envelope.pass(time_ns, lane.payload_bytes - payload, lane.payload_bytes);
  Burst& burst = lane.burst;
  if (burst.packets == 0 || time_ns - burst.end_ns > burst_gap_ns_) {
    if (burst.packets != 0) {
      lane.flow.longest_pause_ns = std::max(lane.flow.longest_pause_ns, time_ns - burst.end_ns);
      close_burst(lane);
    }
    burst = {.start_ns = time_ns, .end_ns = time_ns, .bytes = 0, .packets = 0};
  }
  burst.end_ns = std::max(burst.end_ns, time_ns);
  burst.bytes += fresh;
  ++burst.packets;
}

void FlowTable::close_burst(Lane& lane) {
  const Burst burst = std::exchange(lane.burst, {0, 0, 0, 0});
  if (burst.packets == 0) return;
  if (std::exchange(lane.may_join, false)) {
    bursts_ += append_burst(lane.flow.bursts, burst, burst_gap_ns_) ? 1 : 0;
    return;
  }
  // It began more than a gap after the last one's end: that need not be looked at.
  lane.flow.bursts.push_back(burst);
  ++bursts_;
}

void FlowTable::move_window(Series& series, OpenWindow& window, std::int64_t time_ns,
                            std::uint64_t bytes) {
  close_window(series, window);
  // Mostly the window in which everybody is: that saves a division.
  const std::uint64_t since =
      static_cast<std::uint64_t>(time_ns) - static_cast<std::uint64_t>(window_.begin_ns);
  if (since < static_cast<std::uint64_t>(clock_.width_ns)) {
    window.begin_ns = window_.begin_ns;
    window.index = window_.index;
  } else {
    window.index = clock_.index_of(time_ns);
    window.begin_ns = clock_.begin_of(window.index);
  }
  window.bytes = bytes;
}

void FlowTable::close_window(Series& series, OpenWindow& window) {
  if (window.begin_ns == OpenWindow::kNever) return;
  window.begin_ns = OpenWindow::kNever;
  if (window.index < window.series_end) {
    windows_ += series.add(window.index, window.bytes);
    return;
  }
  series.append(window.index, window.bytes);
  window.series_end = window.index + 1;
  ++windows_;
}

void FlowTable::count_without_flow(const Packet& packet) {
  if (packet.source == 0 && packet.destination == 0) return;
  PairCount& pair = pairs_.at(packet.source, packet.destination);
  ++pair.packets;
  ++pair.by_verdict[static_cast<std::size_t>(packet.verdict)];
  pair.super_frames += packet.super_frame ? 1 : 0;
  pair.wire_bytes += packet.wire_bytes;
  pair.payload_bytes += packet.payload_bytes;
}

inline bool FlowTable::is_between(const Connection& connection, const Ends& ends,
                                  std::size_t& side) {
  const Ends& known = connection.ends;
  // Single & on purpose: the direction is a value, not a branch.
  const bool same = (known.from == ends.from) & (known.to == ends.to);
  // A queue pair is the receiver's: its packets have no way back.
  const bool reverse = (known.from == ends.to) & (known.to == ends.from) & (ends.kind <= 0xff);
  side = same ? 0 : 1;
  return (known.kind == ends.kind) & (same | reverse);
}

inline FlowTable::Connection& FlowTable::connection_of(const Place& place, std::size_t& side) {
  if (latest_ != nullptr && is_between(*latest_, place.ends, side)) return *latest_;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = place.hash & mask; slots_[i].connection != nullptr; i = (i + 1) & mask) {
    if (slots_[i].hash != place.hash || !is_between(*slots_[i].connection, place.ends, side)) {
      continue;
    }
    latest_ = slots_[i].connection;
    return *latest_;
  }
  side = 0;
  latest_ = &open_connection(place);
  return *latest_;
}

/// Whether the packet is the first of another connection between the same ends.
inline bool FlowTable::starts_anew(const Connection& connection, std::size_t side,
                                   const Packet& packet, std::int64_t time_ns) const {
  const bool syn = packet.verdict == Verdict::Tcp &&
                   (packet.tcp_flags & (packet::kSyn | packet::kRst)) == packet::kSyn;
  if (!syn && packet.verdict != Verdict::Udp) [[likely]]
    return false;
  const Lane& own = connection.lanes[side];
  const Lane& other = connection.lanes[1 - side];
  if (own.packets + other.packets == 0) return false;
  const std::int64_t last_ns = own.packets == 0     ? other.last_ns
                               : other.packets == 0 ? own.last_ns
                                                    : std::max(own.last_ns, other.last_ns);
  if (time_ns - last_ns > options_.idle_ns) return true;
  if (!syn) return false;
  if (own.stream.started()) return !own.stream.begins_with(packet.sequence);
  // The other side was in the middle of a connection that nobody had opened.
  return (packet.tcp_flags & packet::kAck) == 0 && other.stream.started() && !other.flow.saw_syn;
}

}  // namespace tw::flow
