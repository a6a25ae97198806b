// SPDX-License-Identifier: Apache-2.0
// A capture and its analysis as the tables of a run folder.

#pragma once

#include "trainwire/record/run_folder.h"
#include "trainwire/summarise/capture.h"

#include <future>
#include <vector>

namespace tw::summarise {

/// Rows of windows.csv for each scope; where there would be more, windows are added up two and two.
inline constexpr std::size_t kMostWindowRows = 200'000;
/// Rows of iteration_pairs.csv; iterations past it are left out.
inline constexpr std::size_t kMostIterationPairs = 500'000;

/// Writes every table that the result has something for. Throws SystemError.
void write_tables(const CaptureResult& result, record::RunFolder& folder);

/// The same in two parts, for windows.csv is by far the largest and needs nothing of an analysis
/// but the hosts: it is written by a thread of its own from now on, while `traffic` must stay as it
/// is. The future throws SystemError, and its destructor waits.
std::future<void> begin_windows(const gather::Captured& traffic, std::vector<gather::Host> hosts,
                                record::RunFolder& folder);
void write_tables_but_windows(const CaptureResult& result, record::RunFolder& folder);

}  // namespace tw::summarise
