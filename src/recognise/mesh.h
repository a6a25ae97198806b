// SPDX-License-Identifier: Apache-2.0
// Ranks on each host, from who is connected with whom.
//
// Libraries that join every rank with every other (Gloo does) open r * r connections between two
// hosts with r ranks each, of which a ring uses one. So many between every two hosts, and no bytes
// in nearly all of them, have no other reason. The rendezvous adds connections to one host.
//
// Limits: where connections are opened when they are needed (Open MPI), or were silent during the
// capture, nothing is known. Different numbers of ranks on the hosts are not looked for.

#pragma once

#include "trainwire/gather/captured.h"

#include <vector>

namespace tw::recognise {

/// 1 unless all pairs of `hosts`, but those with one of them, have the same square number of
/// connections, and those with that one at least as many. `host_of` is indexed by address number.
int ranks_by_mesh(const gather::Captured& traffic, const std::vector<int>& host_of,
                  const std::vector<int>& hosts);

}  // namespace tw::recognise
