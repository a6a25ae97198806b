// SPDX-License-Identifier: Apache-2.0
// Who is slow: the link that all wait for, and the host that computes longest beside it.
//
// A slow link makes some hosts begin their steps later, which is no computing: what it explains is
// taken off before a straggler is looked for.

#pragma once

#include "trainwire/diagnose/analysis.h"
#include "trainwire/recognise/job.h"

#include <optional>
#include <span>

namespace tw::diagnose {

struct Trouble {
  std::optional<Bottleneck> bottleneck;
  std::optional<Straggler> straggler;
};

/// Only of jobs whose strategy is known.
Trouble find_trouble(std::span<const gather::Host> hosts, const recognise::Job& job,
                     const gather::Captured& traffic);

}  // namespace tw::diagnose
