// SPDX-License-Identifier: Apache-2.0
// What multicast carries of a training: messages that bring the same chunks from one rank, the hub,
// to several on other hosts in one round. Which those are is told by the schedule (companions.h).
//
// Casts are numbered alike on every rank. A cast is one stream: the hub sends into it once what the
// schedule has it send to each member, members receive from it instead of from the hub's connection.

#pragma once

#include "trainwire/workload/parts.h"
#include "trainwire/workload/training.h"

#include <compare>
#include <span>
#include <string>
#include <vector>

namespace tw::workload {

/// Lanes from here on are casts, by number: they join a hub and its members.
inline constexpr int kFirstCastLane = 1 << 19;

struct Cast {
  int hub = 0;
  int lane = 0;  ///< of the connections that it stands for
  std::vector<int> members = {};
  auto operator<=>(const Cast&) const = default;
};

/// Why nothing of the training can be summed on its way (Sum) or multicast (Replace), whatever its
/// number of ranks; "": something can.
std::string group_problem(const Training& training, collective::Combine combine);

/// Those of a transfer's companions that are on other hosts than its hub.
std::vector<int> members_of(const Training& training, const collective::Schedule& schedule,
                            const collective::Transfer& transfer);

/// In order.
std::vector<Cast> casts_of(const Training& training, const Exchanges& exchanges);

/// Has what belongs to casts go over their wires. REQUIRES: parts are those of the rank in that
/// schedule, made for these wires, and there is a wire for each cast that the rank is in.
void use_casts(Parts& parts, const Training& training, const collective::Schedule& schedule,
               int rank, std::span<const Cast> casts, std::span<const Wire> wires);

}  // namespace tw::workload
