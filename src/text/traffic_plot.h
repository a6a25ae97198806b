// SPDX-License-Identifier: Apache-2.0
// A load drawn with characters: its rate over time, and its flows by size.

#pragma once

#include "trainwire/load/load_file.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tw::text {

/// Bytes of the flows that start in each of `bins` equal parts of the first `span`, as rates.
std::vector<double> start_rates(const load::Load& load, Duration span, std::size_t bins);

/// The same over one period, on average of all whole periods of the load.
std::vector<double> folded_rates(const load::Load& load, Duration period, std::size_t bins);

/// Columns of block characters over an axis of time; `height` lines and two more.
std::vector<std::string> rate_plot(const std::vector<double>& rates_bps, Duration span,
                                   std::size_t height);

/// Flows of more than `from` bytes and up to `to`.
struct SizeBin {
  std::int64_t from = 0;
  std::int64_t to = 0;  ///< 0: no limit
  std::int64_t flows = 0;
  std::int64_t bytes = 0;
};
/// By powers of ten from 1 kB to 10 MB.
std::vector<SizeBin> size_bins(const load::Load& load);
/// A line for each bin that the load reaches: shares of flows and of bytes.
std::vector<std::string> size_plot(const std::vector<SizeBin>& bins);

}  // namespace tw::text
