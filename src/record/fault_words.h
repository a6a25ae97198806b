// SPDX-License-Identifier: Apache-2.0
// What a fault was, when, and what it cost each job, in one sentence: for terminals and pages.

#pragma once

#include "trainwire/record/run.h"

#include <string>

namespace tw::record {

/// "link-down host1, 350 ms to 1.35 s; 2 steps of job0 took 1 s longer, the longest 1.1 s (usual
/// 110 ms)". Of at most four jobs; names are printable.
std::string fault_words(const Fault& fault);

/// "rank 1 on host1 was killed by signal 9 (Killed): noticed after 3 ms (closed connection), restart
/// from step 8 (checkpoint) with 4 ranks after 210 ms and 1.2 MB, 3 steps lost; as usual again after
/// 400 ms". Names are printable.
std::string recovery_words(const Recovery& recovery);

/// "checkpoints: 4 of 4 MB, the longest took 12 ms"; with what went wrong, if anything did.
std::string checkpoint_words(const Checkpoints& checkpoints);

/// A job was held up for longer than one of its usual steps.
bool cost_a_step(const Fault& fault);

}  // namespace tw::record
