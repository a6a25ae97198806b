// SPDX-License-Identifier: Apache-2.0
// How closely a network is simulated.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/network/network.h"
#include "trainwire/spec/experiment.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace tw::sim {

enum class Level {
  Flow,    ///< messages share links as fluids: flow_network.h
  Packet,  ///< packets, queues and TCP: packet_network.h
};

/// "flow", "packet".
std::string_view name_of(Level level);

/// How far virtual time goes: packets count picoseconds, fluids nanoseconds, in 64 bits.
Duration longest_time(Level level);
/// Throws SpecError where a link's delay is longer than that level can bear (10 min; 100 h).
void require_bearable_delays(const network::Network& network, Level level);

/// Roughly how many packets pass how many ports. REQUIRES, as below: the experiment is resolved.
double packet_hops(const spec::Experiment& experiment);

/// Packet by packet what takes seconds that way, the rest as fluids, and whatever has delays that
/// packets cannot bear.
Level fitting_level(const spec::Experiment& experiment);

/// One level for all points of a sweep, which are to be compared: packet by packet where all of them
/// together take seconds that way. Points that cannot be simulated do not count.
Level fitting_level(std::span<const spec::Experiment> points);

}  // namespace tw::sim
