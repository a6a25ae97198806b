// SPDX-License-Identifier: Apache-2.0
// Traces of made jobs: ranks that compute, come to one all-reduce a step, and leave it together.

#pragma once

#include "trainwire/operations/told.h"

#include <algorithm>
#include <vector>

namespace tw::operations {

struct MadeJob {
  int ranks = 4;
  int steps = 5;
  std::int64_t compute_ns = 80'000'000;
  std::int64_t transfer_ns = 20'000'000;
  int late_rank = -1;
  std::int64_t late_ns = 0;
  int late_every = 1;                       ///< in the first step, and in each so many later
  bool in_turn = false;                     ///< in each step another rank is the late one
  std::vector<std::int64_t> clock_ns = {};  ///< added to each rank's times
};

inline std::vector<Told> traces_of(const MadeJob& job) {
  std::vector<Told> told(static_cast<std::size_t>(job.ranks));
  std::int64_t now = 1'700'000'000'000'000'000;
  for (int step = 0; step < job.steps; ++step) {
    const bool is_late = step % job.late_every == 0;
    const int late_rank = job.in_turn ? step % job.ranks : is_late ? job.late_rank : -1;
    const std::int64_t last = now + job.compute_ns + (late_rank >= 0 ? job.late_ns : 0);
    const std::int64_t end = last + job.transfer_ns;
    for (int rank = 0; rank < job.ranks; ++rank) {
      Told& file = told[static_cast<std::size_t>(rank)];
      const std::int64_t clock =
          job.clock_ns.empty() ? 0 : job.clock_ns[static_cast<std::size_t>(rank)];
      file.kind = "kineto";
      file.path = "rank" + std::to_string(rank);
      file.rank = rank;
      const std::int64_t start = now + job.compute_ns + (rank == late_rank ? job.late_ns : 0);
      file.computing.push_back({now + clock, start + clock});
      file.operations.push_back({.rank = rank,
                                 .group = "0",
                                 .group_size = job.ranks,
                                 .op = "all_reduce",
                                 .bytes = 50'000'000,
                                 .start_ns = start + clock,
                                 .end_ns = end + clock});
      file.steps.push_back(
          {.rank = rank, .number = step, .start_ns = now + clock, .duration_ns = end - now});
      file.records = file.operations.size();
    }
    now = end;
  }
  return told;
}

}  // namespace tw::operations
