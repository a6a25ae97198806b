// SPDX-License-Identifier: Apache-2.0
// All equally short paths between two hosts, for who takes them in turn: each by itself, or together
// step by step.
//
// Limits: there are (k/2)^2 of them between pods of a k-ary fat tree, and each is written out.

#pragma once

#include "trainwire/network/network.h"

#include <vector>

namespace tw::network {

/// Each as Network::path() has one; a single empty one for from == to. All are equally long.
std::vector<std::vector<int>> equal_paths(const Network& network, int from, int to);

/// Step by step, the ports that any of them takes there, in order of their numbers.
std::vector<std::vector<int>> equal_steps(const Network& network, int from, int to);

}  // namespace tw::network
