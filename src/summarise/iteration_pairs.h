// SPDX-License-Identifier: Apache-2.0
// What each pair of hosts carried in each iteration.

#pragma once

#include "trainwire/result/table_file.h"
#include "trainwire/summarise/capture.h"

namespace tw::summarise {

/// By the schedule where one is known (CaptureResult::scheduled): each step has its bytes, although
/// its tail may be sent in the time of the next. Otherwise a burst belongs to the iteration in which
/// it starts. At most kMostIterationPairs rows.
void write_iteration_pairs(const CaptureResult& result, const HostNames& names,
                           result::TableFile& table);

}  // namespace tw::summarise
