// SPDX-License-Identifier: Apache-2.0
// A measured table beside what was expected: how much of it is reached, the line of latency and
// bandwidth through it, and what would explain a gap.
//
// An explanation is the same hardware with one thing less (a NIC, RDMA, NVLink, link speed). It is
// given only where that would show what large messages show, within kExplains, and where nothing else
// was found to do so; otherwise all that would are named.
//
// Limits: one line through all sizes; where NCCL changes its way, residuals show it.

#pragma once

#include "trainwire/nccl/expect.h"
#include "trainwire/nccl/perf_table.h"
#include "trainwire/stats/alpha_beta.h"
#include "trainwire/stats/estimate.h"

#include <optional>
#include <string>
#include <vector>

namespace tw::nccl {

inline constexpr double kExplains = 0.12;
/// Reached from here on is "as expected".
inline constexpr double kReached = 0.85;

struct Compared {
  PerfRow measured;  ///< of several rows of one size the one of median time
  Expected expected;
  double share;  ///< bus bandwidth, measured over expected
};

struct Comparison {
  std::vector<Compared> rows;  ///< by size
  std::optional<stats::AlphaBetaFit> line;
  std::string no_line;  ///< why there is none
  /// Bytes at which half the line's bandwidth is reached: alpha over beta.
  std::optional<stats::Estimate> knee_bytes;
  double measured_busbw = 0;  ///< GB/s of large messages: the median of the three largest sizes
  double expected_busbw = 0;  ///< of the same
  double small_time_us = 0;   ///< median of sizes up to 4 KiB, 0 without such
  double small_expected_us = 0;
  std::vector<std::string> explanations;
  std::string sentence;  ///< comes first
  std::vector<std::string> notes;
};

/// The table of a file that is about an operation: told so, or with its ratio of bus to algorithm
/// bandwidth; the first of these. Throws DataError where none can be.
const PerfTable& table_of(const PerfFile& file, Operation operation, int ranks);

Comparison compare(const Cluster& cluster, Operation operation, const PerfFile& file);

}  // namespace tw::nccl
