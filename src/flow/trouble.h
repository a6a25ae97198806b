// SPDX-License-Identifier: Apache-2.0
// Who is slow: the link that all wait for, and the host that computes longest beside it.
//
// A slow link makes some hosts begin their steps later, which is no computing: what it explains is
// taken off before a straggler is looked for.

#pragma once

#include "trainwire/flow/analysis.h"
#include "trainwire/flow/job.h"

#include <optional>
#include <span>

namespace tw::flow {

struct Trouble {
  std::optional<Bottleneck> bottleneck;
  std::optional<Straggler> straggler;
};

/// Only of jobs whose strategy is known.
Trouble find_trouble(std::span<const Host> hosts, const Job& job, const Traffic& traffic);

}  // namespace tw::flow
