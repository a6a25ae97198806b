// SPDX-License-Identifier: Apache-2.0
// The topologies there are, one file each. wiring.cc picks one by the name in the experiment.

#pragma once

#include "trainwire/network/wiring.h"

#include <memory>

namespace tw::network {

/// All hosts on one switch, named "switch".
std::shared_ptr<const Wiring> star(int hosts);

/// Switches "left", with the first `left_hosts` hosts, and "right"; one core link, "core".
/// REQUIRES: 1 <= left_hosts < hosts.
std::shared_ptr<const Wiring> dumbbell(int hosts, int left_hosts);

/// Host i on leaf floor(i * leaves / hosts); every leaf is joined to every spine, "leaf0-spine1".
/// REQUIRES: 1 <= leaves <= hosts, spines >= 1.
std::shared_ptr<const Wiring> leaf_spine(int hosts, int leaves, int spines);

/// k pods of k/2 edge and k/2 aggregation switches, with the smallest even k that holds the hosts,
/// k/2 on each edge switch in order. Within a pod every edge switch is joined to every aggregation
/// switch ("edge0-agg1"); aggregation switch a of every pod to the cores a*k/2 .. a*k/2 + k/2-1
/// ("agg0-core1"). Between pods there are (k/2)^2 ways, one over each core.
/// (Al-Fares et al. 2008, 10.1145/1402958.1402967)
std::shared_ptr<const Wiring> fat_tree(int hosts);

}  // namespace tw::network
