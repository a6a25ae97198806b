// SPDX-License-Identifier: Apache-2.0
// A job for ASTRA-sim: its ranks' steps as Chakra traces, and the network and system that go with them.
//
// A step is forward, then backward cut at the times at which buckets are filled, and a collective for each bucket; with
// overlap a collective waits for its piece of backward alone, else for all of it. The next step waits for all collectives.
//
// Limits: exchanges are named as collectives, and how they are done is the system's: of strategies without a collective of that
// name (servers, averaging of pairs) there is no such file. Compute times are replayed, without jitter. The
// network is one dimension: a switch with a host's rate for each rank.

#pragma once

#include "trainwire/chakra/et_file.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/workload/training.h"

#include <string>
#include <vector>

namespace tw::foreign {

/// More would fill a disk with files.
inline constexpr int kMostTraces = 4096;

/// Nodes of one rank, for `steps` steps. Throws SpecError for a strategy that has no collective's name.
std::vector<chakra::Node> nodes_of(const workload::Training& training, int rank, int steps);

/// Writes JOB.RANK.et for every rank, JOB.network.yml and JOB.system.json into a new folder; says what it wrote.
/// Throws SystemError, SpecError.
std::string write_chakra(const spec::Experiment& experiment, const std::string& folder, int steps);

}  // namespace tw::foreign
