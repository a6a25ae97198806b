// SPDX-License-Identifier: Apache-2.0
// Traffic of training jobs played from schedules: the oracle for everything that recognises them.
//
// Every host computes, then sends its transfers as its schedule allows: a transfer waits for its
// sender's compute, for what the sender received in earlier rounds, and for the sender's link.
// Bytes are exact; times are those of links with a rate and a latency.

#pragma once

#include "trainwire/base/random.h"
#include "trainwire/collective/schedule.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/gather/captured.h"
#include "trainwire/packet/address.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tw::rhythm {

struct PlayedJob {
  std::string strategy;
  std::vector<int> placement;  ///< host of each rank, 0-based; host h has address 10.0.0.(h+1)
  std::int64_t payload = 4'000'000;
  int steps = 15;
  double compute_s = 0.05;
  double jitter = 0.05;  ///< of the compute time, standard deviation
  double rate_bps = 5e9;
  double latency_s = 50e-6;
  int servers = 1;
  int slow_host = -1;
  double slow_bps = 100e6;
  /// Bytes that the slow host sends at once, then waits until its link has taken them; 0: evenly.
  std::int64_t train = 0;
  /// Of each host: of 16 ms it sends for one part in so many only, and as many times as fast; none:
  /// evenly.
  std::vector<double> haste = {};
  int straggler = -1;  ///< host
  double delay_s = 0.1;
  int connections = 1;  ///< of a pair, each carries its part
  std::uint64_t seed = 1;
  int rest_every = 0;  ///< steps after which all rest, as after an epoch; 0: never
  double rest_s = 1;
};

class Player {
 public:
  explicit Player(const PlayedJob& job) : job_(job), random_(job.seed, "played job") {
    int hosts = 0;
    for (const int host : job.placement) hosts = std::max(hosts, host + 1);
    free_s_.assign(static_cast<std::size_t>(hosts), 0);
    done_s_.assign(job.placement.size(), 0.2);
    traffic_.addresses.push_back({});
    for (int host = 0; host < hosts; ++host) {
      traffic_.addresses.push_back(
          packet::v4_address(0x0a000001 + static_cast<std::uint32_t>(host)));
    }
    traffic_.burst_gap_ns = 500'000;
  }

  gather::Captured play() {
    for (int step = 0; step < job_.steps; ++step) play_step(step);
    finish();
    return std::move(traffic_);
  }

 private:
  int host(int rank) const { return job_.placement[static_cast<std::size_t>(rank)]; }

  void play_step(int step) {
    const int ranks = static_cast<int>(job_.placement.size());
    const collective::Schedule schedule = collective::make_schedule(
        job_.strategy,
        {.layout = {.hosts = static_cast<int>(free_s_.size()), .host_of = job_.placement},
         .servers = job_.servers,
         .step = step});
    std::vector<double> ready(job_.placement.size());
    for (int rank = 0; rank < ranks; ++rank) {
      const bool computes = rank < schedule.workers;
      double compute = computes ? job_.compute_s * (1 + job_.jitter * random_.normal()) : 0;
      if (host(rank) == job_.straggler) compute += job_.delay_s;
      if (computes && job_.rest_every > 0 && step > 0 && step % job_.rest_every == 0) {
        compute += job_.rest_s;
      }
      ready[static_cast<std::size_t>(rank)] = done_s_[static_cast<std::size_t>(rank)] + compute;
    }
    std::vector<collective::Transfer> transfers;
    for (int rank = 0; rank < ranks; ++rank) {
      for (const collective::Transfer& transfer : collective::transfers_of(schedule, rank)) {
        if (transfer.from == rank) transfers.push_back(transfer);
      }
    }
    std::sort(transfers.begin(), transfers.end());
    std::vector<double> received = ready;  // in earlier rounds
    std::vector<double> now = ready;
    std::int64_t round = 0;
    for (const collective::Transfer& transfer : transfers) {
      if (transfer.round != round) received = now;
      round = transfer.round;
      const double end =
          send(schedule, transfer, received[static_cast<std::size_t>(transfer.from)]);
      double& known = now[static_cast<std::size_t>(transfer.to)];
      known = std::max(known, end);
    }
    done_s_ = now;
  }

  double send(const collective::Schedule& schedule, const collective::Transfer& transfer,
              double earliest_s) {
    const std::int64_t elements = job_.payload / 4;
    const std::int64_t bytes =
        4 * (collective::chunk_begin(elements, schedule.chunks, transfer.chunk + transfer.width) -
             collective::chunk_begin(elements, schedule.chunks, transfer.chunk));
    const int from = host(transfer.from);
    const int to = host(transfer.to);
    if (from == to) return earliest_s;
    double& free = free_s_[static_cast<std::size_t>(from)];
    const double rate = from == job_.slow_host ? job_.slow_bps : job_.rate_bps;
    const double start = std::max(earliest_s, free);
    const double end = start + static_cast<double>(bytes) * 8 / rate;
    free = end;
    if (from == job_.slow_host && job_.train > 0) {
      for (std::int64_t sent = 0; sent < bytes; sent += job_.train) {
        const double at = start + static_cast<double>(sent) * 8 / rate;
        add({from, to, 0}, at, at, static_cast<std::uint64_t>(std::min(job_.train, bytes - sent)));
      }
      return end + job_.latency_s;
    }
    for (int i = 0; i < job_.connections; ++i) {
      add({from, to, i}, start, end, static_cast<std::uint64_t>(bytes / job_.connections));
    }
    return end + job_.latency_s;
  }

  struct Connection {
    int from;
    int to;
    int number;
    auto operator<=>(const Connection&) const = default;
  };

  void add(const Connection& connection, double start_s, double end_s, std::uint64_t bytes) {
    const auto start = static_cast<std::int64_t>(start_s * 1e9);
    const auto end = static_cast<std::int64_t>(end_s * 1e9);
    flow::Flow& flow = flows_[connection];
    if (flow.bursts.empty() || start - flow.bursts.back().end_ns > traffic_.burst_gap_ns) {
      flow.bursts.push_back({.start_ns = start, .end_ns = end, .bytes = 0, .packets = 0});
    }
    flow::Burst& burst = flow.bursts.back();
    burst.end_ns = std::max(burst.end_ns, end);
    burst.bytes += bytes;
    burst.packets += static_cast<std::uint32_t>(bytes / 1448 + 1);
    const std::uint64_t packets = bytes / 1448 + 1;
    for (std::uint64_t i = 0; i < packets; ++i) {
      const std::uint64_t size = std::min<std::uint64_t>(1448, bytes - 1448 * i);
      const auto left = start + static_cast<std::int64_t>(static_cast<double>(end - start) *
                                                          static_cast<double>(i + 1) /
                                                          static_cast<double>(packets));
      const std::int64_t at = handed_over(connection.from, left);
      flow.series.add(traffic_.clock, at, size + 66);
      flow.envelope.pass(at, flow.payload_bytes, flow.payload_bytes + size);
      flow.payload_bytes += size;
    }
    flow.packets += packets;
    flow.estimated_wire_packets += packets;
    flow.wire_bytes += bytes + 66 * packets;
  }

  std::int64_t handed_over(int from, std::int64_t left_ns) const {
    if (job_.haste.empty()) return left_ns;
    const auto within = static_cast<double>(left_ns % kHasteOf_ns);
    const double haste = job_.haste[static_cast<std::size_t>(from)];
    return left_ns - left_ns % kHasteOf_ns + static_cast<std::int64_t>(within / haste);
  }

  void finish() {
    traffic_.totals.first_ns = 0;
    for (auto& [connection, flow] : flows_) {
      flow.key = {static_cast<std::uint32_t>(connection.from + 1),
                  static_cast<std::uint32_t>(connection.to + 1),
                  static_cast<std::uint16_t>(40'000 + connection.number), 40'500, 6};
      flow.saw_syn = true;
      flow.round_trips.add(static_cast<std::int64_t>(2e9 * job_.latency_s));
      flow.first_ns = flow.bursts.front().start_ns;
      flow.last_ns = flow.bursts.back().end_ns;
      traffic_.totals.packets += flow.packets;
      traffic_.totals.last_ns = std::max(traffic_.totals.last_ns, flow.last_ns);
      traffic_.flows.push_back(std::move(flow));
    }
    std::sort(traffic_.flows.begin(), traffic_.flows.end(),
              [](const flow::Flow& a, const flow::Flow& b) { return a.first_ns < b.first_ns; });
  }

  static constexpr std::int64_t kHasteOf_ns = 16'000'000;

  PlayedJob job_;
  Random random_;
  std::vector<double> free_s_;  ///< when each host's link is free
  std::vector<double> done_s_;  ///< when each rank finished the step before
  std::map<Connection, flow::Flow> flows_;
  gather::Captured traffic_ = {};
};

inline gather::Captured play(const PlayedJob& job) { return Player(job).play(); }

/// Hosts in an order that is not that of their addresses.
inline std::vector<int> shuffled_hosts(int count, std::uint64_t seed) {
  std::vector<int> hosts;
  for (int i = 0; i < count; ++i) hosts.push_back(i);
  Random random(seed, "placement");
  for (int i = count - 1; i > 0; --i) {
    std::swap(hosts[static_cast<std::size_t>(i)],
              hosts[random.below(static_cast<std::uint64_t>(i) + 1)]);
  }
  return hosts;
}

inline std::string host_name(int host) { return "10.0.0." + std::to_string(host + 1); }

}  // namespace tw::rhythm
