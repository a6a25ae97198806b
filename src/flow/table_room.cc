// SPDX-License-Identifier: Apache-2.0
// How the table keeps within its budgets: opening, retiring and settling connections, folding
// windows, widening bursts.

#include "trainwire/flow/bursts.h"
#include "trainwire/flow/table.h"
#include "trainwire/flow/wire_packets.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tw::flow {
namespace {

/// How long a closed connection waits for stragglers.
constexpr std::int64_t kCloseNs = 5'000'000'000;
/// Small flows that are kept although they ended: a short list hurts nobody.
constexpr std::size_t kSmallKept = 4096;
/// Connections with milestones: more than enough to compare clocks by.
constexpr std::size_t kTrackedConnections = 4096;
/// Neither windows nor gaps grow beyond 2.3 years: hostile times cannot overflow them.
constexpr std::int64_t kWidestNs = std::int64_t{1} << 56;

}  // namespace

FlowTable::Connection& FlowTable::open_connection(const Place& place) {
  if (2 * (live_ + 1) > slots_.size()) make_room();
  if (free_.empty()) free_.push_back(&connections_.emplace_back());
  Connection& connection = *free_.back();
  free_.pop_back();
  ++live_;
  connection.ends = place.ends;
  connection.in_use = true;
  connection.tracked = options_.milestones && live_ <= kTrackedConnections;
  index(connection, place.hash);
  return connection;
}

void FlowTable::index(Connection& connection, std::uint64_t hash) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash & mask;
  while (slots_[i].connection != nullptr) i = (i + 1) & mask;
  slots_[i] = {.connection = &connection, .hash = hash};
}

void FlowTable::start_anew(Connection& connection) {
  const Ends ends = connection.ends;
  const bool tracked = connection.tracked;
  put_away(connection, finished_.size() < kSmallKept);
  connection = Connection{};
  connection.ends = ends;
  connection.in_use = true;
  connection.tracked = tracked;
}

bool FlowTable::is_small(const Connection& connection) const {
  return connection.lanes[0].payload_bytes < options_.small_bytes &&
         connection.lanes[1].payload_bytes < options_.small_bytes;
}

void FlowTable::settle(Lane& lane) {
  close_burst(lane);
  close_window(lane.flow.series, lane.window);
  Flow& flow = lane.flow;
  flow.last_ns = lane.last_ns;
  flow.packets = lane.packets;
  flow.wire_bytes = lane.wire_bytes;
  flow.payload_bytes = lane.payload_bytes;
  flow.acknowledgement_packets = lane.acknowledgement_packets;
  flow.largest_payload = lane.largest_payload;
  flow.full_packets = lane.full_packets;
  flow.ordinary_payload = lane.ordinary_payload;
  flow.stream = std::move(lane.stream);
}

void FlowTable::put_away(Connection& connection, bool keep_small) {
  const bool keep = keep_small || !is_small(connection);
  const Ends& ends = connection.ends;
  for (std::size_t side = 0; side < 2; ++side) {
    if (connection.lanes[side].packets == 0) continue;
    settle(connection.lanes[side]);
    Flow& flow = connection.lanes[side].flow;
    const std::uint64_t from = side == 0 ? ends.from : ends.to;
    const std::uint64_t to = side == 0 ? ends.to : ends.from;
    flow.key = {.source = static_cast<std::uint32_t>(from >> 16),
                .destination = static_cast<std::uint32_t>(to >> 16),
                .source_port = static_cast<std::uint16_t>(from),
                .destination_port = static_cast<std::uint16_t>(to),
                .protocol = static_cast<std::uint8_t>(ends.kind),
                .queue_pair = static_cast<std::uint32_t>(ends.kind >> 8)};
    flow.estimated_wire_packets =
        estimated_wire_packets(flow, connection.lanes[1 - side].flow.announced_segment);
    add_flow(pairs_.at(flow.key.source, flow.key.destination), flow);
    if (keep) {
      finished_.push_back(std::move(flow));
    } else {
      retire(flow);
    }
  }
}

void FlowTable::retire(const Flow& flow) {
  PairCount& pair = pairs_.at(flow.key.source, flow.key.destination);
  ++pair.retired_flows;
  pair.retired_tiny_flows += flow.payload_bytes <= kTinyBytes ? 1 : 0;
  windows_ -= flow.series.windows().size();
  bursts_ -= flow.bursts.size();
  if (retire_) retire_(flow);
}

template <typename Wanted>
void FlowTable::sweep(Wanted wanted) {
  for (Connection& connection : connections_) {
    if (!connection.in_use || !wanted(connection)) continue;
    put_away(connection, finished_.size() < kSmallKept);
    connection = Connection{};
    free_.push_back(&connection);
    --live_;
  }
}

void FlowTable::make_room() {
  sweep([this](const Connection& connection) {
    if (!is_small(connection)) return false;
    std::int64_t last_ns = kEarliestNs;
    bool over = false;
    for (const Lane& lane : connection.lanes) {
      if (lane.packets > 0) last_ns = std::max(last_ns, lane.last_ns);
      over |= lane.flow.saw_fin || lane.flow.saw_reset;
    }
    return totals_.last_ns - last_ns > (over ? kCloseNs : options_.idle_ns);
  });
  const std::size_t most_slots = std::bit_ceil(2 * options_.most_connections);
  if (4 * live_ < slots_.size()) return index_anew(slots_.size());
  if (slots_.size() < most_slots) return index_anew(2 * slots_.size());
  evict();
  index_anew(slots_.size());
}

void FlowTable::evict() {
  const auto last_of = [](const Connection& connection) {
    return std::max(connection.lanes[0].last_ns, connection.lanes[1].last_ns);
  };
  const std::size_t wanted = slots_.size() / 4;
  while (live_ > wanted) {
    std::vector<std::int64_t> times;
    for (const Connection& connection : connections_) {
      if (connection.in_use && is_small(connection)) times.push_back(last_of(connection));
    }
    if (times.empty()) {
      options_.small_bytes *= 2;
      continue;
    }
    const auto nth =
        times.begin() + static_cast<std::ptrdiff_t>(std::min(live_ - wanted, times.size()) - 1);
    std::nth_element(times.begin(), nth, times.end());
    sweep([&, latest = *nth](const Connection& connection) {
      return is_small(connection) && last_of(connection) <= latest;
    });
    if (live_ > wanted) options_.small_bytes *= 2;
  }
}

void FlowTable::trim_finished() {
  while (finished_.size() > options_.most_connections) {
    std::erase_if(finished_, [this](const Flow& flow) {
      if (flow.payload_bytes >= options_.small_bytes) return false;
      retire(flow);
      return true;
    });
    if (finished_.size() > options_.most_connections) options_.small_bytes *= 2;
  }
}

void FlowTable::index_anew(std::size_t slots) {
  slots_.assign(slots, {});
  for (Connection& connection : connections_) {
    if (connection.in_use) index(connection, hash_of(connection.ends));
  }
}

template <typename Visit>
void FlowTable::for_each_flow(Visit visit) {
  for (Connection& connection : connections_) {
    for (Lane& lane : connection.lanes) visit(lane.flow);
  }
  for (Flow& flow : finished_) visit(flow);
}

void FlowTable::fold_windows() {
  for (Connection& connection : connections_) {
    for (Lane& lane : connection.lanes) close_window(lane.flow.series, lane.window);
  }
  close_window(series_, window_);
  while (windows_ > options_.most_windows && clock_.width_ns < kWidestNs) {
    clock_.width_ns *= 2;
    const auto folded = [](std::uint32_t end) { return end / 2 + end % 2; };
    window_.series_end = folded(window_.series_end);
    for (Connection& connection : connections_) {
      for (Lane& lane : connection.lanes) lane.window.series_end = folded(lane.window.series_end);
    }
    series_.fold();
    windows_ = series_.windows().size();
    for_each_flow([this](Flow& flow) {
      flow.series.fold();
      windows_ += flow.series.windows().size();
    });
  }
}

void FlowTable::widen_bursts() {
  while (bursts_ > options_.most_bursts && burst_gap_ns_ < kWidestNs) {
    burst_gap_ns_ = 2 * std::max<std::int64_t>(burst_gap_ns_, 1);
    bursts_ = 0;
    for (Connection& connection : connections_) {
      for (Lane& lane : connection.lanes) lane.may_join = true;
    }
    for_each_flow([this](Flow& flow) {
      join_bursts(flow.bursts, burst_gap_ns_);
      bursts_ += flow.bursts.size();
    });
  }
}

std::vector<Flow> FlowTable::finish() {
  for (Connection& connection : connections_) {
    if (connection.in_use) put_away(connection, true);
  }
  close_window(series_, window_);
  connections_.clear();
  latest_ = nullptr;
  free_.clear();
  live_ = 0;
  slots_.assign(1, {});
  return std::exchange(finished_, {});
}

}  // namespace tw::flow
