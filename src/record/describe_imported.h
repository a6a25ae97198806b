// SPDX-License-Identifier: Apache-2.0
// The members of imported.h, named once for writing and reading.

#pragma once

#include "trainwire/record/imported.h"
#include "trainwire/record/json_io.h"

namespace tw::record {

template <typename Io>
void describe(Io& io, As<OperationKind> auto& kind) {
  io("op", kind.op);
  io("count", kind.count);
  io("bytes", kind.bytes);
  io("timed", kind.timed);
  io.or_null("busbw_bps", kind.busbw_bps);
  io.or_null("busbw_whole_bps", kind.busbw_whole_bps);
  io.or_null("wait_s", kind.wait_s);
  io.or_null("transfer_s", kind.transfer_s);
}

template <typename Io>
void describe(Io& io, As<OperationGroup> auto& group) {
  io("group", group.group);
  io("group_size", group.group_size);
  io("op", group.op);
  io("count", group.count);
  io("bytes", group.bytes);
}

template <typename Io>
void describe(Io& io, As<Operations> auto& operations) {
  io("count", operations.count);
  io("rows", operations.rows);
  io("ranks", operations.ranks);
  io("by_op", operations.by_op);
  io("by_group", operations.by_group);
}

template <typename Io>
void describe(Io& io, As<Source> auto& source) {
  io("path", source.path);
  io("kind", source.kind);
  io("records", source.records);
  io("skipped", source.skipped);
  io("reasons", source.reasons);
  io.if_any("clock_offset_s", source.clock_offset_s);
  io.if_any("clock_uncertainty_s", source.clock_uncertainty_s);
}

template <typename Io>
void describe(Io& io, As<WatchedWay> auto& way) {
  io("local", way.local);
  io("remote", way.remote);
  io("connections", way.connections);
  io("sent_bytes", way.sent_bytes);
  io("received_bytes", way.received_bytes);
  io("sent_segments", way.sent_segments);
  io("sent_again", way.sent_again);
  io("round_trip_s", way.round_trip_s);
  io("least_round_trip_s", way.least_round_trip_s);
  io("busy_s", way.busy_s);
  io("peer_limited_s", way.peer_limited_s);
  io("buffer_limited_s", way.buffer_limited_s);
}

template <typename Io>
void describe(Io& io, As<WatchedDevice> auto& device) {
  io("name", device.name);
  io("sent_bytes", device.sent_bytes);
  io("received_bytes", device.received_bytes);
  io("dropped_packets", device.dropped_packets);
  io("errors", device.errors);
  io("peak_sent_bps", device.peak_sent_bps);
  io.or_null("rate_bps", device.rate_bps);
}

template <typename Io>
void describe(Io& io, As<Watched> auto& watched) {
  io("process", watched.process);
  io("seconds", watched.seconds);
  io("packets", watched.packets);
  io("ways", watched.ways);
  io("devices", watched.devices);
  io("rdma_counters", watched.rdma_counters);
}

}  // namespace tw::record
