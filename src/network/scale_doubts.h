// SPDX-License-Identifier: Apache-2.0
// Where run.scale (spec/scale.h) makes an emulated network behave unlike the cluster: packets are
// not scaled, so whatever is counted in packets is another thing there.

#pragma once

#include "trainwire/spec/experiment.h"

#include <string>
#include <vector>

namespace tw::network {

/// A sentence each; none without a scale. REQUIRES: the experiment is resolved.
std::vector<std::string> scale_doubts(const spec::Experiment& experiment);

}  // namespace tw::network
