// SPDX-License-Identifier: Apache-2.0
// How much of a run goes into a page, so that a page stays small however long the run was.

#pragma once

#include <cstddef>

namespace tw::report {

struct Limits {
  std::size_t total_buckets = 8192;   ///< throughput of everything
  std::size_t series_buckets = 1024;  ///< of one host or pair
  std::size_t hosts = 8;              ///< with two series each, those that move the most
  std::size_t pairs = 16;
  std::size_t matrix_hosts = 64;
  std::size_t close_windows = 2048;  ///< of each pair, one by one, around the middle of the run
  std::size_t flows = 200;           ///< drawn one by one, those that carry the most
  std::size_t flow_cells = 24'576;   ///< rates over time of all of them together
  std::size_t transfers = 3000;      ///< what a pair carried in an iteration
  std::size_t segments = 6000;       ///< phases drawn in the timeline of ranks
  std::size_t quantiles = 400;       ///< of each distribution
  std::size_t steps = 2000;          ///< times of steps one by one
  std::size_t connections = 16;      ///< TCP connections with a series each
  std::size_t list_items = 256;      ///< of any list of run.json
  std::size_t text_bytes = 4000;     ///< of any text of run.json
};

/// What is left for each when all of them have to be smaller by `factor`. REQUIRES: factor >= 1.
Limits divided(const Limits& limits, double factor);

/// Every window as it was recorded.
Limits without_limits_of_windows(const Limits& limits);

}  // namespace tw::report
