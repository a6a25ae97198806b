// SPDX-License-Identifier: Apache-2.0
#include "trainwire/attach/judged.h"

#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace tw::attach {
namespace {

constexpr double kMuchSentAgain = 0.01;  ///< of segments
constexpr double kBusy = 0.5;            ///< of the time: more is a connection that decides
constexpr double kMostly = 0.5;          ///< of the busy time

using Key = std::tuple<std::uint64_t, std::uint16_t, std::uint16_t>;
Key key_of(const Connection& each) { return {each.inode, each.local_port, each.remote_port}; }

std::uint64_t since(std::uint64_t after, std::uint64_t before) {
  return after - std::min(after, before);
}

std::vector<Peer> peers_of(const Watched& watched) {
  std::map<Key, Connection> before;
  for (const Connection& each : watched.before) before.emplace(key_of(each), each);
  std::map<std::string, Peer> peers;
  for (const Connection& each : watched.after) {
    const auto found = before.find(key_of(each));
    const Connection first = found == before.end() ? Connection{} : found->second;
    Peer& peer = peers[each.remote];
    peer.address = each.remote;
    ++peer.connections;
    peer.sent_bytes += since(each.sent_bytes, first.sent_bytes);
    peer.received_bytes += since(each.received_bytes, first.received_bytes);
    peer.sent_segments += since(each.sent_segments, first.sent_segments);
    peer.sent_again += since(each.sent_again, first.sent_again);
    peer.round_trip_s = std::max(peer.round_trip_s, each.round_trip_s);
    if (each.least_round_trip_s > 0 &&
        (peer.least_round_trip_s == 0 || each.least_round_trip_s < peer.least_round_trip_s))
      peer.least_round_trip_s = each.least_round_trip_s;
    const double busy_s = each.busy_s - first.busy_s;
    if (busy_s <= peer.busy_s) continue;
    peer.busy_s = busy_s;
    peer.peer_limited_s = each.peer_limited_s - first.peer_limited_s;
    peer.buffer_limited_s = each.buffer_limited_s - first.buffer_limited_s;
  }
  std::vector<Peer> made;
  for (auto& [address, peer] : peers) {
    if (peer.sent_bytes + peer.received_bytes > 0) made.push_back(std::move(peer));
  }
  std::stable_sort(made.begin(), made.end(), [](const Peer& a, const Peer& b) {
    return a.sent_bytes + a.received_bytes > b.sent_bytes + b.received_bytes;
  });
  return made;
}

std::vector<Device> devices_of(const Watched& watched) {
  std::vector<Device> made;
  if (watched.samples.size() < 2) return made;
  const Sample& first = watched.samples.front();
  const Sample& last = watched.samples.back();
  const double seconds = std::max(1e-9, last.time_s - first.time_s);
  for (const auto& [name, end] : last.devices) {
    const auto begin = first.devices.find(name);
    if (begin == first.devices.end()) continue;
    Device device{
        .name = name,
        .sent_bps = 8 * static_cast<double>(since(end.sent, begin->second.sent)) / seconds,
        .received_bps =
            8 * static_cast<double>(since(end.received, begin->second.received)) / seconds};
    for (std::size_t i = 1; i < watched.samples.size(); ++i) {
      const auto a = watched.samples[i - 1].devices.find(name);
      const auto b = watched.samples[i].devices.find(name);
      const double passed = watched.samples[i].time_s - watched.samples[i - 1].time_s;
      if (a == watched.samples[i - 1].devices.end() || b == watched.samples[i].devices.end() ||
          passed <= 0)
        continue;
      device.peak_sent_bps =
          std::max(device.peak_sent_bps,
                   8 * static_cast<double>(since(b->second.sent, a->second.sent)) / passed);
    }
    if (device.sent_bps + device.received_bps > 0) made.push_back(std::move(device));
  }
  return made;
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

void judge(const Watched& watched, Judged& into) {
  if (into.peers.empty()) {
    into.cause = "silent";
    into.text = fmt::format(
        "No connection of the job moved a byte in {}: it computes, waits, or moves its bytes by "
        "RDMA or within the host.",
        readable(from_seconds(watched.seconds)));
    return;
  }
  const Peer& busiest =
      *std::max_element(into.peers.begin(), into.peers.end(),
                        [](const Peer& a, const Peer& b) { return a.busy_s < b.busy_s; });
  const double busy = busiest.busy_s / std::max(1e-9, watched.seconds);
  const std::string peer = printable(busiest.address);
  std::uint64_t segments = 0;
  std::uint64_t again = 0;
  for (const Peer& each : into.peers) {
    segments += each.sent_segments;
    again += each.sent_again;
  }
  const double lost = segments > 0 ? static_cast<double>(again) / static_cast<double>(segments) : 0;
  into.where = busiest.address;
  if (busy < kBusy) {
    into.cause = "compute";
    into.where.clear();
    into.confidence = 0.8;
    into.text = fmt::format(
        "Not the network: of the time its connections have something to send only {}; otherwise "
        "this rank computes or waits for others.",
        percent(busy));
  } else if (busiest.peer_limited_s >= kMostly * busiest.busy_s) {
    into.cause = "late_peer";
    into.confidence = 0.8;
    into.text = fmt::format(
        "Not the network: {} does not read what this rank sends, {} of the time that there is "
        "something to send; look at what it does.",
        peer, percent(busiest.peer_limited_s / busiest.busy_s));
  } else if (lost >= kMuchSentAgain) {
    into.cause = "loss";
    into.confidence = 0.8;
    into.text = fmt::format(
        "The network loses packets: {} of {} segments were sent again ({:.2g} %), most is sent to "
        "{}; look for full queues and bad ports on the way.",
        again, segments, 100 * lost, peer);
  } else {
    into.cause = "network";
    into.confidence = 0.7;
    into.text = fmt::format(
        "The network: the way to {} is the limit for {} of the time, at {}; its round trip is {}, "
        "{} at its least.",
        peer, percent(busy),
        readable(
            BitRate(8 * static_cast<double>(busiest.sent_bytes) / std::max(1e-9, busiest.busy_s))),
        readable(from_seconds(busiest.round_trip_s)),
        readable(from_seconds(busiest.least_round_trip_s)));
  }
}

}  // namespace

Judged judged(const Watched& watched) {
  Judged made{.peers = peers_of(watched), .devices = devices_of(watched)};
  judge(watched, made);
  return made;
}

}  // namespace tw::attach
