// SPDX-License-Identifier: Apache-2.0
// Tables of nccl-tests (nccl/perf_table.h) as operations: one for each size, with the time it took.

#pragma once

#include "trainwire/operations/told.h"

#include <string>

namespace tw::readers {

/// What NCCL's log says between the rows is taken too.
void read_perf(const std::string& text, operations::Told& told);

}  // namespace tw::readers
