// SPDX-License-Identifier: Apache-2.0
// What faults make of links while they go on. Several may be on one port: the lowest rate holds,
// losses add up. What is down loses every packet.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/network/plan.h"
#include "trainwire/spec/experiment.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tw::network {

/// As experiments and records have it: "link-down".
std::string_view word_of(spec::FaultKind kind);

/// Of the fault's link, in its directions.
std::vector<int> ports_of(const NetPlan& plan, const spec::Fault& fault);

/// A fault that goes on.
struct LinkFault {
  const spec::Fault* fault = nullptr;
  std::span<const int> ports = {};
  bool is_down = false;  ///< of a link that flaps, at present
};

/// What a port is to be.
struct PortChange {
  std::optional<BitRate> rate = {};  ///< nothing: as it was planned
  double loss = 0;                   ///< besides what was planned; 1: nothing gets through
  bool is_down = false;
};
/// Of a port that was planned with that rate.
PortChange change_of(int port, BitRate usual, std::span<const LinkFault> faults);

/// How long a flapping link stays as it now is: down for the first part of each period.
Duration until_flap(const spec::Fault& fault, bool is_down);

}  // namespace tw::network
