// SPDX-License-Identifier: Apache-2.0
// What an experiment file says of each link: whether there is one of that name, its settings with
// the overrides, the queue that they mean.
//
// Closed forms, so that a file about a million hosts is checked and printed in time proportional to
// its text. What the network is, node by node and path by path, is laid out by the module `network`
// above, whose tests hold these forms against its paths.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/spec/experiment.h"

#include <optional>
#include <string_view>

namespace tw::spec {

/// The number behind `prefix`, written as we write it: no sign, no leading zeros.
std::optional<int> number_after(std::string_view prefix, std::string_view name);

/// One direction of a host's link with the overrides applied.
LinkSettings host_link(const Network& network, int host, Direction direction);

/// One direction of a core link with the overrides applied. REQUIRES: is_core_link(network, name).
LinkSettings core_link(const Network& network, std::string_view name, Direction direction);

/// A core link without its overrides.
LinkSettings usual_core_link(const Network& network);

/// Sets what the override sets, if it is about that direction. REQUIRES: it is about that link.
void apply(LinkSettings& link, const LinkOverride& override, Direction direction);

/// Whether the topology has a link of that name between two of its switches.
bool is_core_link(const Network& network, std::string_view name);

/// Pods of a fat tree: the smallest even number k with room for k^3/4 >= `hosts`.
int fat_tree_pods(int hosts);

/// Propagation there and back between the two hosts farthest apart. Overrides of host links and of
/// a dumbbell's core count; those of other core links do not, since other paths go around them.
/// What queues are sized for.
Duration longest_round_trip(const Network& network);

/// The queue limit in bytes: as given, or its multiple of rate * longest round trip, at least two
/// packets.
Bytes queue_bytes(const Network& network, const LinkSettings& link);
/// The same for many links: with the longest round trip at hand.
Bytes queue_bytes(const Network& network, const LinkSettings& link, Duration longest_round_trip);

}  // namespace tw::spec
