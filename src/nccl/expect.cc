// SPDX-License-Identifier: Apache-2.0
#include "trainwire/nccl/expect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tw::nccl {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 40;  ///< far beyond every knee
constexpr double kNicEfficiency = 0.96;                   ///< 12 of 12.5 GB/s
constexpr double kPairLatency_us = 8.4;
constexpr double kNetHop_us = 14;
constexpr double kPostEach_us = 1;

double delay_us(const Cluster& cluster) { return 1e6 * seconds(cluster.delay); }

Expected row_of(const Cluster& cluster, Operation operation, std::int64_t bytes, double latency_us,
                double gbs) {
  const double size = static_cast<double>(bytes);
  const double time = latency_us + size / (1e3 * gbs);
  const double algbw = size / (1e3 * time);
  return {.bytes = bytes,
          .way = std::nullopt,
          .time_us = time,
          .algbw_gbs = algbw,
          .busbw_gbs = algbw * bus_factor(operation, cluster.ranks),
          .limit = latency_us > time / 2 ? Limit::Latency : Limit::Nic};
}

/// What ranks of a host send through its NICs, what one of them does, and what it sends inside, for each byte of its own.
struct Shares {
  double across = 0;
  double of_rank = 0;
  double inside = 0;
};

Shares shares_of(const Cluster& cluster, Operation operation) {
  const double per_host = cluster.ranks_of_host();
  const double ranks = cluster.ranks;
  if (operation == Operation::AllToAll) {
    const double away = (ranks - per_host) / ranks;
    return {per_host * away, away, (per_host - 1) / ranks};
  }
  const double away = cluster.hosts() > 1 ? 1.0 : 0.0;
  return {away, away, per_host > 1 ? 1.0 : 0.0};
}

/// One rank sends to one rank over one NIC; in an all-to-all all NICs of a host are busy.
double nic_gbs(const Cluster& cluster, Operation operation) {
  const double busy = operation == Operation::SendRecv ? std::min(1.0, cluster.nics_of_host())
                                                       : cluster.nics_of_host();
  double gbs = kNicEfficiency * busy * cluster.nics.rate.bits_per_second() / 8e9;
  if (cluster.transport == Transport::Socket) {
    gbs = std::min(gbs, busy * cluster.streams * cluster.stream.bits_per_second() / 8e9);
  }
  return gbs;
}

Expected between_pairs(const Cluster& cluster, Operation operation, std::int64_t bytes) {
  const Shares shares = shares_of(cluster, operation);
  const double inside_gbs = cluster.intra_gbs > 0            ? cluster.intra_gbs
                            : cluster.intra == Intra::NvLink ? cluster.gpu.nvlink_gbs
                                                             : cluster.gpu.pcie_gbs;
  double us_per_kb = shares.inside / inside_gbs;
  Limit limit = cluster.intra == Intra::NvLink ? Limit::NvLink : Limit::Pcie;
  double latency = kPairLatency_us;
  if (shares.across > 0) {
    const double nic = nic_gbs(cluster, operation);
    if (shares.across / nic >= us_per_kb) {
      us_per_kb = shares.across / nic;
      const bool wire = nic * 8e9 >= 0.9 * kNicEfficiency * cluster.nics.rate.bits_per_second();
      limit = wire || cluster.transport == Transport::Ib ? Limit::Nic : Limit::Streams;
    }
    // However many NICs there are, a GPU has one way to them.
    if (shares.of_rank / cluster.gpu.pcie_gbs > us_per_kb) {
      us_per_kb = shares.of_rank / cluster.gpu.pcie_gbs;
      limit = Limit::Pcie;
    }
    const double peers = operation == Operation::SendRecv ? 1 : cluster.ranks - 1;
    latency += kNetHop_us + delay_us(cluster) + (peers - 1) * kPostEach_us;
  }
  Expected row = row_of(cluster, operation, bytes, latency, 1 / us_per_kb);
  if (row.limit != Limit::Latency) row.limit = limit;
  return row;
}

/// What the wires allow an all-reduce that sums inside hosts first: each sends and takes
/// 2(hosts-1)/hosts of the data.
double wire_algbw(const Cluster& cluster, const Choice& choice) {
  const bool first_inside =
      choice.way.algorithm == Algorithm::Tree || choice.way.algorithm == Algorithm::NvlsTree;
  const double hosts = cluster.hosts();
  if (!first_inside || hosts == 1) return INFINITY;
  return nic_gbs(cluster, Operation::AllReduce) * hosts / (2 * (hosts - 1));
}

/// Whether another way would reach much more, only not yet at this size.
bool by_protocol(const Cluster& cluster, Operation operation, const Choice& choice) {
  const Choice large = choose(cluster, operation, static_cast<double>(kLargest));
  return choice.cost.algbw_gbs < 0.75 * large.cost.algbw_gbs;
}

}  // namespace

Expected expected(const Cluster& cluster, Operation operation, std::int64_t bytes) {
  if (operation == Operation::AllToAll || operation == Operation::SendRecv) {
    return between_pairs(cluster, operation, bytes);
  }
  const Choice choice = choose(cluster, operation, static_cast<double>(bytes));
  const Graph ring = ring_graph(cluster);
  const double share = reach(cluster, ring);
  Expected row = row_of(cluster, operation, bytes,
                        choice.cost.latency_us + choice.cost.crossings * delay_us(cluster),
                        std::min(choice.cost.algbw_gbs * share, wire_algbw(cluster, choice)));
  row.way = choice.way;
  if (row.limit == Limit::Latency) return row;
  const bool nvls = choice.way.algorithm == Algorithm::Nvls;
  row.limit = nvls ? Limit::NvLink : ring.limit;
  if (share < 1 && cluster.transport == Transport::Socket) row.limit = Limit::Streams;
  if (by_protocol(cluster, operation, choice)) row.limit = Limit::Protocol;
  return row;
}

Ceiling ceiling(const Cluster& cluster, Operation operation) {
  const Expected large = expected(cluster, operation, kLargest);
  Ceiling found{
      .busbw_gbs = large.busbw_gbs, .limit = large.limit, .way = large.way, .half_from = kLargest};
  for (std::int64_t bytes = 8; bytes < kLargest; bytes *= 2) {
    if (expected(cluster, operation, bytes).busbw_gbs < large.busbw_gbs / 2) continue;
    found.half_from = bytes;
    break;
  }
  return found;
}

std::vector<std::int64_t> sizes(std::int64_t first, std::int64_t last, double factor) {
  std::vector<std::int64_t> all;
  for (double size = static_cast<double>(first); size <= static_cast<double>(last);
       size = std::max(size + 1, std::floor(size * factor))) {
    all.push_back(static_cast<std::int64_t>(size));
  }
  return all;
}

std::string ways_text(const std::vector<Expected>& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].way) return "nothing: what pairs send to each other has one way";
    const bool first = i == 0;
    if (!first && rows[i].way == rows[i - 1].way) continue;
    if (!first) text += ", ";
    text += name_of(*rows[i].way);
    if (!first) text += fmt::format(" from {}", exact(Bytes(rows[i].bytes)));
  }
  return text;
}

}  // namespace tw::nccl
