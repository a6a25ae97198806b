// SPDX-License-Identifier: Apache-2.0
// The hardware of a job, as far as NCCL's choice and the ceiling of its bandwidth depend on it.
//
// Bandwidths inside are those that NCCL itself counts with (GB/s, decimal, one direction): an NVLink
// of an A100 20.0, of an H100 20.6; PCIe x16 12 in the third generation and twice that in each later
// one. Limits: hosts are alike, GPUs on NVLink reach each other through a switch, processors are
// Intel's, nothing is summed by switches of the network.

#pragma once

#include "trainwire/base/units.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::nccl {

enum class Generation { Volta, Ampere, Hopper, Blackwell };
enum class Transport { Ib, Socket };  ///< RDMA (InfiniBand, RoCE), or TCP
enum class Intra { NvLink, Pcie, None };

/// What is known of a GPU by its name.
struct Gpu {
  std::string_view name;  ///< "h100"
  Generation generation;
  double nvlink_gbs;  ///< all its NVLinks
  double pcie_gbs;
};

std::vector<Gpu> gpus();
/// By our name, or by what a driver calls it: "NVIDIA A100-SXM4-40GB".
std::optional<Gpu> find_gpu(std::string_view name);

struct Nics {
  int count = 1;      ///< of a host
  BitRate rate = {};  ///< of each

  bool operator==(const Nics&) const = default;
};

/// "2x200Gbit" or "200Gbit"; nothing for anything else, or more than 64 of them.
std::optional<Nics> parse_nics(std::string_view text);
/// "300GB/s" as well as what parse_rate takes.
std::optional<BitRate> parse_bandwidth(std::string_view text);

struct Cluster {
  int ranks = 2;
  int per_host = 1;  ///< divides ranks
  Nics nics = {};
  Transport transport = Transport::Ib;
  Intra intra = Intra::NvLink;
  Gpu gpu;
  /// What one GPU reaches inside its host; by default what its kind has.
  double intra_gbs = 0;
  BitRate stream = {};  ///< what one TCP connection carries
  int streams = 2;      ///< TCP connections of a NIC that are busy at the same time
  Duration delay = {};  ///< of the network one way, besides what NCCL counts for a hop

  /// With Intra::None ranks reach each other over the network only: each counts as a host.
  int hosts() const;
  int ranks_of_host() const;
  /// NICs of a host as NCCL sees it: a share of one when ranks count as hosts.
  double nics_of_host() const;
};

/// Throws SpecError with the reason where such a cluster cannot be: no ranks, ranks that do not fill
/// hosts, no NIC between hosts.
void require_possible(const Cluster& cluster);

/// "16 ranks, 2 hosts of 8 h100 (NVLink), 2 x 200 Gbit/s a host (RDMA)".
std::string describe(const Cluster& cluster);

}  // namespace tw::nccl
