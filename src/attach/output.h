// SPDX-License-Identifier: Apache-2.0
// What was watched, as text, as JSON and as tables of a run folder.

#pragma once

#include "trainwire/attach/series.h"
#include "trainwire/attach/tally.h"
#include "trainwire/record/run.h"
#include "trainwire/record/run_folder.h"

#include <string>

namespace tw::attach {

/// At most 30 lines; verdict first. `packets` says where they were captured, or why not.
std::string watched_text(const record::Run& run, const Sums& sums, const std::string& packets,
                         const std::string& folder);

/// As the record has it.
record::Watched watched_of(const Sums& sums, int process, const std::string& packets);

/// The tables ways and samples. Throws SystemError.
void write_watched(const record::Watched& watched, const Series& series, double began_s,
                   record::RunFolder& folder);

}  // namespace tw::attach
