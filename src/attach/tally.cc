// SPDX-License-Identifier: Apache-2.0
#include "trainwire/attach/tally.h"

#include <algorithm>

namespace tw::attach {
namespace {

constexpr double kActive = 0.05;  ///< of a link's rate
constexpr double kFull = 0.8;

/// Counters that began anew count from 0.
std::uint64_t since(std::uint64_t after, std::uint64_t before) {
  return after >= before ? after - before : after;
}

/// What one look adds to a way's times: those of its busiest connection.
struct Busiest {
  double busy_s = 0;
  double peer_limited_s = 0;
  double buffer_limited_s = 0;
};

template <typename Value>
Value value_or_none(const auto& map, const auto& key) {
  const auto found = map.find(key);
  return found == map.end() ? Value{} : found->second;
}

}  // namespace

Sums difference(const Sums& after, const Sums& before) {
  Sums made = after;
  made.seconds -= before.seconds;
  for (auto& [key, way] : made.ways) {
    const Way first = value_or_none<Way>(before.ways, key);
    way.sent_bytes -= first.sent_bytes;
    way.received_bytes -= first.received_bytes;
    way.sent_segments -= first.sent_segments;
    way.sent_again -= first.sent_again;
    way.busy_s -= first.busy_s;
    way.peer_limited_s -= first.peer_limited_s;
    way.buffer_limited_s -= first.buffer_limited_s;
  }
  for (auto& [name, device] : made.devices) {
    const Device first = value_or_none<Device>(before.devices, name);
    device.counts.sent -= first.counts.sent;
    device.counts.received -= first.counts.received;
    device.counts.dropped -= first.counts.dropped;
    device.counts.errors -= first.counts.errors;
    device.active_s -= first.active_s;
    device.full_s -= first.full_s;
  }
  for (auto& [name, count] : made.rdma) count -= value_or_none<std::uint64_t>(before.rdma, name);
  return made;
}

Way& Tally::way_of(const Connection& connection) {
  const auto key = std::pair(connection.local, connection.remote);
  const bool is_known = sums_.ways.contains(key);
  return is_known || sums_.ways.size() < kMostWays ? sums_.ways[key] : sums_.ways[{}];
}

void Tally::look(const std::vector<Connection>& now) {
  for (auto& [key, way] : sums_.ways) way.connections = 0;
  std::map<Way*, Busiest> busiest;
  std::map<Key, Connection> seen;
  for (const Connection& each : now) {
    const Key key{each.inode, each.local_port, each.remote_port};
    const auto found = last_look_.find(key);
    Connection before = found == last_look_.end() ? Connection{} : found->second;
    if (!has_looked_) before = each;
    Way& way = way_of(each);
    if (way.connections == 0) way.round_trip_s = 0;
    ++way.connections;
    way.sent_bytes += since(each.sent_bytes, before.sent_bytes);
    way.received_bytes += since(each.received_bytes, before.received_bytes);
    way.sent_segments += since(each.sent_segments, before.sent_segments);
    way.sent_again += since(each.sent_again, before.sent_again);
    way.round_trip_s = std::max(way.round_trip_s, each.round_trip_s);
    if (each.least_round_trip_s > 0 &&
        (way.least_round_trip_s == 0 || each.least_round_trip_s < way.least_round_trip_s)) {
      way.least_round_trip_s = each.least_round_trip_s;
    }
    Busiest& most = busiest[&way];
    if (each.busy_s - before.busy_s > most.busy_s) {
      most = {.busy_s = each.busy_s - before.busy_s,
              .peer_limited_s = each.peer_limited_s - before.peer_limited_s,
              .buffer_limited_s = each.buffer_limited_s - before.buffer_limited_s};
    }
    seen.emplace(key, each);
  }
  for (const auto& [way, most] : busiest) {
    way->busy_s += most.busy_s;
    way->peer_limited_s += most.peer_limited_s;
    way->buffer_limited_s += most.buffer_limited_s;
  }
  last_look_ = std::move(seen);
  has_looked_ = true;
}

void Tally::sample(double time_s, const Devices& now, const std::map<std::string, double>& rates) {
  const double passed_s = time_s - sums_.seconds;
  for (const auto& [name, counts] : now) {
    const auto before = last_devices_.find(name);
    Device& device = sums_.devices[name];
    device.rate_bps = value_or_none<double>(rates, name);
    if (before == last_devices_.end()) continue;
    const std::uint64_t sent = since(counts.sent, before->second.sent);
    const std::uint64_t received = since(counts.received, before->second.received);
    device.counts.sent += sent;
    device.counts.received += received;
    device.counts.dropped += since(counts.dropped, before->second.dropped);
    device.counts.errors += since(counts.errors, before->second.errors);
    if (passed_s <= 0) continue;
    device.peak_sent_bps = std::max(device.peak_sent_bps, 8 * static_cast<double>(sent) / passed_s);
    const double bps = 8 * static_cast<double>(std::max(sent, received)) / passed_s;
    if (device.rate_bps > 0 && bps >= kActive * device.rate_bps) device.active_s += passed_s;
    if (device.rate_bps > 0 && bps >= kFull * device.rate_bps) device.full_s += passed_s;
  }
  last_devices_ = now;
  sums_.seconds = time_s;
}

void Tally::rdma(const std::map<std::string, std::uint64_t>& now) {
  for (const auto& [name, count] : now) {
    const auto before = last_rdma_.find(name);
    std::uint64_t& sum = sums_.rdma[name];
    if (before != last_rdma_.end()) sum += since(count, before->second);
  }
  last_rdma_ = now;
}

void Tally::forget_peaks() {
  for (auto& [name, device] : sums_.devices) device.peak_sent_bps = 0;
}

}  // namespace tw::attach
