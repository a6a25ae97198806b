// SPDX-License-Identifier: Apache-2.0
// Transfers of a schedule that a network could treat as one: those that bring the same chunks to one
// rank in one round to be added, which switches could sum, and those that bring the same chunks from
// one rank to several in one round, which multicast could carry.
//
// Costs all transfers of one rank.

#pragma once

#include "trainwire/collective/schedule.h"

#include <vector>

namespace tw::workload {

using collective::Schedule;
using collective::Transfer;

/// Of a transfer that adds: all ranks that send such to its receiver; of one that replaces: all to
/// which its sender sends such; of one that averages: nobody. In order, its own among them.
std::vector<int> companions(const Schedule& schedule, const Transfer& transfer);

/// How many such groups the sender of a transfer that adds, or the receiver of one that replaces, is
/// in during that round.
int groups_beside(const Schedule& schedule, const Transfer& transfer);

}  // namespace tw::workload
