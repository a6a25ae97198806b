// SPDX-License-Identifier: Apache-2.0
#include "trainwire/nccl/tuning.h"

#include "trainwire/base/error.h"
#include "trainwire/nccl/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace tw::nccl {
namespace {

using Row = std::array<double, 3>;  // by protocol, or by one, two and more hosts

// Microseconds, by algorithm (Tree, Ring, Nvls, NvlsTree, Pat) and protocol.
using Latencies = std::array<Row, 5>;
constexpr Latencies kBase{{{6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}, {}, {}, {8.0, 8.0, 8.0}}};
constexpr Latencies kNvLink{
    {{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}, {0, 0, 25}, {0, 0, 25}, {0, 0, 4.0}}};
constexpr Latencies kPcie{{{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}, {}, {}, {0, 0, 4.0}}};
constexpr Latencies kNet{
    {{5.0, 8.5, 14.0}, {2.7, 4.0, 14.0}, {0, 0, 18}, {0, 0, 20.9}, {0, 0, 14}}};

// GB/s, by generation and number of hosts. LL beyond one host goes by the processor: Intel's row is
// Volta's.
constexpr std::array<Row, 4> kMostLl{
    {{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {141.0, 45.0, 35.0}, {282.0, 90.0, 70.0}}};
constexpr std::array<Row, 4> kMostRingLl128{
    {{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 36.7}, {40.0, 40.0, 40.0}}};
constexpr std::array<Row, 4> kMostTreeLl128{
    {{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 29.0}, {55.6, 31.67, 20.0}}};
constexpr std::array<Row, 4> kMostTree{
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}};
constexpr std::array<Row, 4> kMostNvlsTree{{{}, {}, {0, 57.7, 45.5}, {0, 96.0, 80.0}}};
constexpr std::array<double, 4> kNvlsEfficiency{0, 0, 0.85, 0.74};

// By protocol and the size's power of two, from 64 bytes on.
constexpr std::array<std::array<double, 23>, 3> kTreeAtSize{
    {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}}};

constexpr double kNetOverhead_us = 1.0;

double at(const Latencies& table, const Way& way) {
  return table[static_cast<std::size_t>(way.algorithm)][static_cast<std::size_t>(way.protocol)];
}

double at(const std::array<Row, 4>& table, const Cluster& cluster) {
  const auto column = static_cast<std::size_t>(std::min(cluster.hosts(), 3) - 1);
  return table[static_cast<std::size_t>(cluster.gpu.generation)][column];
}

double most_ll(const Cluster& cluster) {
  if (cluster.hosts() == 1) return at(kMostLl, cluster);
  return kMostLl[0][cluster.hosts() == 2 ? 1 : 2];
}

/// Messages that follow one another around the ring.
int steps_of(Operation operation, int ranks) {
  if (operation == Operation::AllReduce) return 2 * (ranks - 1);
  return in_parts(operation) ? ranks - 1 : ranks;
}

int floor_log2(int n) { return std::bit_width(static_cast<unsigned>(n)) - 1; }

bool offers(const Cluster& cluster, Operation operation, const Way& way) {
  const bool sums = operation == Operation::AllReduce;
  const bool parts = in_parts(operation);
  const bool alone = cluster.hosts() == 1;
  if (way.protocol == Protocol::Ll128) {
    // Only where it is known to be safe: no hop that may tear 128 bytes apart.
    const bool inside = cluster.intra == Intra::NvLink || cluster.ranks_of_host() == 1;
    if (!inside || (!alone && cluster.transport == Transport::Socket)) return false;
  }
  switch (way.algorithm) {
    case Algorithm::Ring:
      return true;
    case Algorithm::Tree:
      return sums;
    case Algorithm::Nvls:
      return way.protocol == Protocol::Simple && alone && (sums || parts);
    case Algorithm::NvlsTree:
      return way.protocol == Protocol::Simple && !alone && sums;
    case Algorithm::Pat:
      return way.protocol == Protocol::Simple && parts && cluster.ranks_of_host() == 1;
  }
  return false;
}

double ring_busbw(const Cluster& cluster, Protocol protocol) {
  const Graph graph = ring_graph(cluster);
  const double all = graph.total_gbs();
  if (protocol == Protocol::Ll) return std::min(most_ll(cluster), all * 0.5);
  if (protocol == Protocol::Ll128) {
    return std::min(all * 0.92, graph.channels * at(kMostRingLl128, cluster));
  }
  return all;
}

double tree_busbw(const Cluster& cluster, Protocol protocol) {
  const Graph graph = tree_graph(cluster);
  const double each = cluster.hosts() <= 2 ? graph.intra_gbs : graph.inter_gbs;
  double bus = std::min(graph.channels * each * 0.92, graph.channels * at(kMostTree, cluster));
  if (protocol == Protocol::Ll) bus = std::min(bus / 3.8, most_ll(cluster));
  if (protocol == Protocol::Ll128) {
    bus = std::min(bus * (cluster.hosts() == 1 ? 7.0 / 9.0 : 120.0 / 128.0),
                   graph.channels * at(kMostTreeLl128, cluster));
  }
  // All of a channel's network traffic passes one GPU: from Hopper on, and where there is but one.
  const bool plain = cluster.gpu.generation >= Generation::Hopper || cluster.ranks_of_host() == 1;
  return plain ? bus * 0.85 : bus;
}

double nvls_busbw(const Cluster& cluster, Operation operation, Algorithm algorithm) {
  const Graph graph = nvls_graph(cluster);
  if (graph.channels < 2) return 0;
  const double per_host = cluster.ranks_of_host();
  double each = graph.intra_gbs *
                kNvlsEfficiency[static_cast<std::size_t>(cluster.gpu.generation)] *
                (graph.channels - 1) / graph.channels;
  each *= operation == Operation::AllReduce ? 2 : (per_host - 1) / per_host;
  if (algorithm == Algorithm::NvlsTree) {
    each = std::min(
        {each, graph.inter_gbs * (cluster.hosts() == 2 ? 2 : 1), at(kMostNvlsTree, cluster)});
  }
  return graph.channels * each;
}

double busbw_of(const Cluster& cluster, Operation operation, const Way& way) {
  switch (way.algorithm) {
    case Algorithm::Ring:
      return ring_busbw(cluster, way.protocol);
    case Algorithm::Tree:
      return tree_busbw(cluster, way.protocol);
    case Algorithm::Pat:
      return 0.75 * ring_busbw(cluster, Protocol::Simple);
    default:
      return nvls_busbw(cluster, operation, way.algorithm);
  }
}

/// From what links carry to what the operation moves.
double algbw_ratio(const Cluster& cluster, Operation operation, Algorithm algorithm) {
  if (algorithm == Algorithm::Tree) return 0.5;
  if (algorithm != Algorithm::Ring && in_parts(operation)) return 1;
  return static_cast<double>(cluster.ranks) / steps_of(operation, cluster.ranks);
}

void add_ring_latency(Cost& cost, const Cluster& cluster, Operation operation, const Way& way,
                      double intra, double inter) {
  const int hosts = cluster.hosts();
  const int steps = steps_of(operation, cluster.ranks);
  if (operation == Operation::Broadcast || operation == Operation::Reduce) {
    // What follows is in the pipe already.
    cost.latency_us += hosts == 1 ? intra : at(kNet, way);
    cost.crossings = hosts - 1;
    return;
  }
  const double overhead =
      hosts == 1 ? 0 : kNetOverhead_us * (way.protocol == Protocol::Simple ? 3 : 1);
  const int across = hosts == 1 ? 0 : (operation == Operation::AllReduce ? 2 : 1) * (hosts - 1);
  cost.latency_us += (steps - across) * std::max(intra, overhead) + across * inter;
  cost.crossings = across;
}

}  // namespace

std::string name_of(const Way& way) {
  constexpr std::array kAlgorithms{"tree", "ring", "nvls", "nvls_tree", "pat"};
  constexpr std::array kProtocols{"LL", "LL128", "Simple"};
  return fmt::format("{}/{}", kAlgorithms[static_cast<std::size_t>(way.algorithm)],
                     kProtocols[static_cast<std::size_t>(way.protocol)]);
}

std::optional<Cost> cost_of(const Cluster& cluster, Operation operation, const Way& way) {
  if (!offers(cluster, operation, way)) return std::nullopt;
  Cost cost{.latency_us = at(kBase, way),
            .algbw_gbs =
                busbw_of(cluster, operation, way) * algbw_ratio(cluster, operation, way.algorithm),
            .crossings = 0};
  if (cost.algbw_gbs <= 0) return std::nullopt;
  const int hosts = cluster.hosts();
  const int levels = floor_log2(hosts);
  const double intra = at(cluster.intra == Intra::NvLink ? kNvLink : kPcie, way);
  const bool single = cluster.ranks_of_host() == 1;
  const double inter = at(kNet, single ? Way{Algorithm::Tree, way.protocol} : way);
  switch (way.algorithm) {
    case Algorithm::Ring:
      add_ring_latency(cost, cluster, operation, way, intra, inter);
      break;
    case Algorithm::Tree:
      cost.latency_us += 2 * ((cluster.ranks_of_host() - 1) * intra + levels * inter);
      cost.crossings = 2 * levels;
      break;
    case Algorithm::Nvls:
      cost.latency_us = intra;
      break;
    case Algorithm::NvlsTree:
      cost.latency_us += intra + 2 * levels * inter;
      cost.crossings = 2 * levels;
      break;
    case Algorithm::Pat:
      cost.latency_us += levels * inter / 3.5 + cluster.ranks * 2.8;
      cost.crossings = levels;
      break;
  }
  return cost;
}

Cost at_size(const Cluster& cluster, Operation operation, const Way& way, Cost cost, double bytes) {
  if (operation != Operation::AllReduce) return cost;
  const auto sixty_fourths = static_cast<std::uint64_t>(std::min(bytes, 1e18)) >> 6;
  if (way.algorithm == Algorithm::Tree && sixty_fourths > 0) {
    const auto power = static_cast<std::size_t>(std::bit_width(sixty_fourths) - 1);
    const auto& row = kTreeAtSize[static_cast<std::size_t>(way.protocol)];
    if (power < row.size()) cost.algbw_gbs *= row[power];
  }
  if (way == Way{Algorithm::Ring, Protocol::Simple} && cluster.hosts() > 1 &&
      bytes / (2.0 * ring_graph(cluster).channels * cluster.ranks) >= 64) {
    cost.latency_us *= cluster.gpu.generation == Generation::Volta ? 1.9 : 1.4;
  }
  return cost;
}

Choice choose(const Cluster& cluster, Operation operation, double bytes) {
  check(operation != Operation::AllToAll && operation != Operation::SendRecv,
        "what ranks send to one another has no algorithm");
  std::optional<Choice> best;
  for (const Algorithm algorithm :
       {Algorithm::Tree, Algorithm::Ring, Algorithm::Nvls, Algorithm::NvlsTree, Algorithm::Pat}) {
    for (const Protocol protocol : {Protocol::Ll, Protocol::Ll128, Protocol::Simple}) {
      const Way way{algorithm, protocol};
      const auto plain = cost_of(cluster, operation, way);
      if (!plain) continue;
      const Cost cost = at_size(cluster, operation, way, *plain, bytes);
      const double time = cost.latency_us + bytes / (1e3 * cost.algbw_gbs);
      if (!best || time < best->time_us) best = Choice{way, cost, time};
    }
  }
  return *best;
}

}  // namespace tw::nccl
