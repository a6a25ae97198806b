// SPDX-License-Identifier: Apache-2.0
// What nccl-tests would show on some hardware: time and bandwidths by size, and what they stand or
// fall with.
//
// The way is the one that NCCL would choose (tuning.h). Its time is what NCCL counts for it, with two
// things added that NCCL does not know: TCP connections that carry less than their NIC, and the
// network's delay. Operations between pairs (all-to-all, sendrecv) have no model in NCCL: links share
// what crosses them, and a message costs what one hop does.
//
// Limits: a ceiling for hosts that have nothing else to do. For large messages real clusters come
// within some percent of it or a reason can be found; for small ones NCCL's latencies hold for RDMA
// on current hosts, and TCP takes longer.

#pragma once

#include "trainwire/nccl/cluster.h"
#include "trainwire/nccl/graph.h"
#include "trainwire/nccl/operation.h"
#include "trainwire/nccl/tuning.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::nccl {

struct Expected {
  std::int64_t bytes;
  std::optional<Way> way;  ///< nothing for operations between pairs
  double time_us;
  double algbw_gbs;
  double busbw_gbs;
  Limit limit;
};

/// Of one size. Nothing takes less than the latency, so 0 bytes are fine.
/// REQUIRES: a possible cluster, bytes >= 0.
Expected expected(const Cluster& cluster, Operation operation, std::int64_t bytes);

/// Bus bandwidth that large messages approach, and what binds there.
struct Ceiling {
  double busbw_gbs;
  Limit limit;
  std::optional<Way> way;
  std::int64_t half_from;  ///< smallest power of two that reaches half of it
};

Ceiling ceiling(const Cluster& cluster, Operation operation);

/// From the first to the last, each `factor` times the one before; nccl-tests' sizes.
/// REQUIRES: 0 < first <= last, factor > 1.
std::vector<std::int64_t> sizes(std::int64_t first, std::int64_t last, double factor);

/// Ways by size, for one line: "tree/LL to 64 KiB, ring/Simple from 128 KiB".
std::string ways_text(const std::vector<Expected>& rows);

}  // namespace tw::nccl
