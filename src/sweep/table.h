// SPDX-License-Identifier: Apache-2.0
// points.csv: a row for each point of a sweep.

#pragma once

#include "trainwire/record/run.h"
#include "trainwire/result/table_file.h"

namespace tw::sweep {

/// `scale` is run.scale of the point's experiment.
void write_point(result::TableFile& table, const record::Point& point, double scale);

}  // namespace tw::sweep
