// SPDX-License-Identifier: Apache-2.0
#include "trainwire/nccl/graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace tw::nccl {
namespace {

constexpr int kMostChannels = 16;  ///< before they are doubled
constexpr double kDoubledFrom = 25.0;

// Speeds at which channels are looked for, GB/s.
constexpr std::array kIntra{40.0, 30.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0};
constexpr std::array kInter{48.0, 30.0, 28.0, 24.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0,
                            7.0,  6.0,  5.0,  4.0,  3.0,  2.4,  1.2,  0.24, 0.12};
constexpr std::array kHopperIntra{60.0, 50.0, 40.0, 30.0, 24.0, 20.0, 15.0, 12.0, 11.0, 6.0, 3.0};
constexpr std::array kHopperInter{48.0, 45.0, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0, 17.5,
                                  15.0, 12.0, 6.0,  3.0,  2.4,  1.2,  0.24, 0.12};
constexpr std::array kBlackwellIntra{90.0, 80.0, 70.0, 60.0, 50.0, 45.0,
                                     40.0, 30.0, 24.0, 20.0, 19.0, 18.0};
constexpr std::array kBlackwellInter{96.0, 80.0, 48.0, 45.1, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0,
                                     17.5, 15.0, 12.0, 6.0,  3.0,  2.4,  1.2,  0.24, 0.12};

std::span<const double> speeds_of(const Cluster& cluster) {
  const bool inter = cluster.hosts() > 1;
  switch (cluster.gpu.generation) {
    case Generation::Blackwell:
      return inter ? std::span<const double>(kBlackwellInter) : kBlackwellIntra;
    case Generation::Hopper:
      return inter ? std::span<const double>(kHopperInter) : kHopperIntra;
    default:
      return inter ? std::span<const double>(kInter) : kIntra;
  }
}

/// What one GPU reaches inside its host; endless where it is alone there.
double inside_gbs(const Cluster& cluster) {
  if (cluster.ranks_of_host() == 1) return INFINITY;
  if (cluster.intra_gbs > 0) return cluster.intra_gbs;
  return cluster.intra == Intra::NvLink ? cluster.gpu.nvlink_gbs : cluster.gpu.pcie_gbs;
}

double nic_gbs(const Cluster& cluster) {
  const double share = std::min(1.0, cluster.nics_of_host());
  return share * cluster.nics.rate.bits_per_second() / 8e9;
}

/// Channels of one speed; what most of them run into first.
struct Fit {
  double channels;
  Limit limit;
};

Fit fit_of(const Cluster& cluster, double speed) {
  constexpr double kSlack = 1e-9;  // 360 / 60 is 6
  const Limit inside = cluster.intra == Intra::NvLink ? Limit::NvLink : Limit::Pcie;
  Fit fit{std::floor(inside_gbs(cluster) / speed + kSlack), inside};
  if (cluster.hosts() == 1) return fit;
  const double units = std::max(1.0, cluster.nics_of_host());
  const double nics = units * std::floor(nic_gbs(cluster) / speed + kSlack);
  const double pcie = cluster.ranks_of_host() * std::floor(cluster.gpu.pcie_gbs / speed + kSlack);
  if (pcie < fit.channels) fit = {pcie, Limit::Pcie};
  if (nics <= fit.channels) fit = {nics, Limit::Nic};
  return fit;
}

/// Wide channels are made two of half the speed, so that more of the GPU works on them.
void double_wide(Graph& graph, Generation generation) {
  if (graph.intra_gbs < kDoubledFrom) return;
  if (generation >= Generation::Hopper && graph.intra_gbs < 50 && graph.channels > 4) return;
  const int doubled = std::min(2 * graph.channels, kMostChannels);
  if (doubled != 2 * graph.channels) return;
  graph.channels = doubled;
  graph.intra_gbs /= 2;
  graph.inter_gbs /= 2;
}

}  // namespace

std::string_view name_of(Limit limit) {
  switch (limit) {
    case Limit::Latency:
      return "latency";
    case Limit::Nic:
      return "nic";
    case Limit::NvLink:
      return "nvlink";
    case Limit::Pcie:
      return "pcie";
    case Limit::Streams:
      return "socket_streams";
    case Limit::Protocol:
      return "protocol";
  }
  return {};
}

Graph ring_graph(const Cluster& cluster) {
  Graph best;
  for (const double speed : speeds_of(cluster)) {
    const Fit fit = fit_of(cluster, speed);
    const int channels = static_cast<int>(std::min<double>(fit.channels, kMostChannels));
    if (channels * speed > best.total_gbs() + 1e-9) {
      best = {.channels = channels, .intra_gbs = speed, .inter_gbs = speed, .limit = fit.limit};
    }
  }
  if (best.channels == 0) {
    const double slowest = speeds_of(cluster).back();
    return {.channels = 1, .intra_gbs = slowest, .inter_gbs = slowest, .limit = Limit::Nic};
  }
  double_wide(best, cluster.gpu.generation);
  return best;
}

Graph tree_graph(const Cluster& cluster) {
  Graph graph = ring_graph(cluster);
  if (cluster.hosts() > 1) {
    graph.intra_gbs = std::min(2 * graph.inter_gbs, inside_gbs(cluster) / graph.channels);
  }
  return graph;
}

Graph nvls_graph(const Cluster& cluster) {
  const int heads = cluster.ranks_of_host();
  if (cluster.gpu.generation < Generation::Hopper || cluster.intra != Intra::NvLink || heads < 4 ||
      heads > kMostChannels) {
    return {};
  }
  const bool alone = cluster.hosts() == 1;
  const double inside = inside_gbs(cluster) / heads;
  double most = inside;
  if (!alone) most = std::min(most, nic_gbs(cluster) * cluster.nics_of_host() / heads);
  for (const double speed : speeds_of(cluster)) {
    if (speed > most) continue;
    return {.channels = heads,
            .intra_gbs = alone ? speed : std::max(speed, std::min(2 * speed, inside)),
            .inter_gbs = speed,
            .limit = alone ? Limit::NvLink : Limit::Nic};
  }
  return {};
}

double reach(const Cluster& cluster, const Graph& ring) {
  if (cluster.hosts() == 1) return 1;
  double most = nic_gbs(cluster) * std::max(1.0, cluster.nics_of_host());
  if (cluster.transport == Transport::Socket) {
    const double streams = cluster.nics_of_host() * cluster.streams;
    most = std::min(most, streams * cluster.stream.bits_per_second() / 8e9);
  }
  return std::min(1.0, most / ring.total_gbs());
}

}  // namespace tw::nccl
