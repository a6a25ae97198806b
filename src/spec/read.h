// SPDX-License-Identifier: Apache-2.0
// From the tree of an experiment file to the Experiment, with every problem on the way.

#pragma once

#include "trainwire/keys/problem.h"
#include "trainwire/keys/tree.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/spec/parse.h"

#include <vector>

namespace tw::spec {

/// All sections but [sweep]; jobs still lack the lists that fill_lists() makes. The result is an
/// experiment only when no problem was added. REQUIRES: list_repeated_sections(root).
Experiment read_experiment(const keys::Table& root, const Vocabulary& vocabulary,
                           std::vector<keys::Problem>& problems);

/// The axes of [sweep], each value tried out in a point of the sweep: what that adds to the
/// problems that the experiment has without its sweep is reported at the value.
std::vector<SweepAxis> read_sweep(const keys::Table& root, const Vocabulary& vocabulary,
                                  std::vector<keys::Problem>& problems);

}  // namespace tw::spec
