// SPDX-License-Identifier: Apache-2.0
// What NCCL thinks that an operation takes, by algorithm and protocol; it chooses the least.
//
// After src/graph/tuning.cc of NCCL 2.28 (constants of the same names there): time = latency +
// bytes / bandwidth, both out of tables measured by NVIDIA. A test holds latencies and bandwidths
// against what NCCL 2.28.9 printed for four hosts (NCCL_DEBUG_SUBSYS=TUNING).
//
// Limits: this is how NCCL chooses, not how long it takes; NVIDIA states no accuracy. Left out:
// CollNet and SHARP, tuner plug-ins, environment variables (NCCL_ALGO, NCCL_PROTO), several
// operations in one group, processors other than Intel's.

#pragma once

#include "trainwire/nccl/cluster.h"
#include "trainwire/nccl/operation.h"

#include <optional>
#include <string>

namespace tw::nccl {

/// The version whose constants these are.
inline constexpr const char* kVersion = "2.28";

enum class Algorithm { Tree, Ring, Nvls, NvlsTree, Pat };
enum class Protocol { Ll, Ll128, Simple };

struct Way {
  Algorithm algorithm;
  Protocol protocol;

  bool operator==(const Way&) const = default;
};

/// "ring/LL128".
std::string name_of(const Way& way);

/// Before sizes come into it.
struct Cost {
  double latency_us;
  double algbw_gbs;
  double crossings;  ///< times in a row that the network's delay is waited for
};

/// Nothing where NCCL does not do the operation that way there, or not by default.
/// REQUIRES: a possible cluster, an operation other than AllToAll and SendRecv.
std::optional<Cost> cost_of(const Cluster& cluster, Operation operation, const Way& way);

/// The same at a size: trees are slower in between, large rings wait longer.
Cost at_size(const Cluster& cluster, Operation operation, const Way& way, Cost cost, double bytes);

struct Choice {
  Way way;
  Cost cost;       ///< at that size
  double time_us;  ///< as NCCL believes
};

/// The way that NCCL takes. REQUIRES: as cost_of.
Choice choose(const Cluster& cluster, Operation operation, double bytes);

}  // namespace tw::nccl
