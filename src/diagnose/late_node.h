// SPDX-License-Identifier: Apache-2.0
// The inner node of a tree that computes longer than the others.
//
// An inner node sends when it has computed and its children's data have come, so its first message
// says nothing of how long it computed. Who computes no longer than its children passes their data
// on at once; a straggler holds them until it is done. Reducing takes some time as well, for every
// node alike: one is a straggler where it holds its children's data for much longer than the other
// inner nodes do.
//
// Limits: nothing is said of a single inner node, the root of a star. Nor where children wait for
// their parent before they send large data.

#pragma once

#include "trainwire/diagnose/straggler.h"

namespace tw::diagnose {

/// `nodes` are the hosts that wait for others before they send.
std::optional<LateHost> find_late_node(const rhythm::Steps& exchanges,
                                       std::span<const rhythm::Channel> channels,
                                       const gather::Captured& traffic, std::span<const int> nodes);

}  // namespace tw::diagnose
