// SPDX-License-Identifier: Apache-2.0
// The channels that NCCL would find: how many, and what each carries inside and between hosts.
//
// NCCL searches for as many channels as links carry, at one of a list of speeds (src/graph/search.cc
// of 2.28): 200 Gbit/s is 25 GB/s and becomes 24, 400 Gbit/s becomes 48. Here the search is
// arithmetic, which it is where hosts are regular: channels over NICs of equal rate, inside through a
// switch. Limits: PCIe trees and several processor sockets are not walked.

#pragma once

#include "trainwire/nccl/cluster.h"

namespace tw::nccl {

/// What a bandwidth stands or falls with.
enum class Limit { Latency, Nic, NvLink, Pcie, Streams, Protocol };

/// latency, nic, nvlink, pcie, socket_streams, protocol.
std::string_view name_of(Limit limit);

struct Graph {
  int channels = 0;          ///< 0: there is no such graph
  double intra_gbs = 0;      ///< of one channel
  double inter_gbs = 0;      ///< likewise; as intra on one host
  Limit limit = Limit::Nic;  ///< why there are no more

  double total_gbs() const { return channels * inter_gbs; }
};

Graph ring_graph(const Cluster& cluster);
/// The ring's channels; inside hosts up to twice as fast, for a chain there carries less.
Graph tree_graph(const Cluster& cluster);
/// Sums made by NVLink's switches: from Hopper on, four GPUs or more.
Graph nvls_graph(const Cluster& cluster);

/// What the network gives of what NCCL counts on, at most 1: TCP connections carry less than their
/// NIC, and below 0.12 GB/s there is no speed in NCCL's list.
double reach(const Cluster& cluster, const Graph& ring);

}  // namespace tw::nccl
