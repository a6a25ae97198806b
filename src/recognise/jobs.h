// SPDX-License-Identifier: Apache-2.0
// The jobs in the traffic. Hosts that exchange nothing with one another, directly or through
// others, cannot have a job in common: each such group is looked at alone. In a group one job
// competes with several: connections that keep one pace, each by itself, or the same steps
// (rhythm/parts.h), may be a job each, with a pace of its own. Several are taken where they explain as many bytes as one does; a mixture of
// paces fits many things. One that explains little is looked at again without the others, to whose
// pace it may have been bent. What is left of a group when a job was found in it is looked at again,
// for another job on some of the same hosts.
//
// A second job must be worth the name: a strategy that is recognised, for most of what is left, of
// at least half a per cent of the bytes, and steps of its own: what repeats with the steps of a job
// on the same hosts is part of that job.
//
// Limits: jobs whose ranks share connections, or send each other nothing that repeats, are one. At
// most eight jobs.

#pragma once

#include "trainwire/recognise/job.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace tw::recognise {

struct Jobs {
  Job main;                                      ///< that explains most bytes; it may be nothing
  std::vector<std::vector<std::size_t>> others;  ///< numbers of their flows, rising
};

/// With a log there is one job, that which it tells of.
Jobs find_jobs(const gather::Captured& traffic, const std::vector<int>& host_of,
               const std::optional<imports::StepLog>& log = {});

}  // namespace tw::recognise
