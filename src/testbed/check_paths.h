// SPDX-License-Identifier: Apache-2.0
// Which paths to measure so that every port has been seen, and what each should give.

#pragma once

#include "trainwire/measure/path.h"
#include "trainwire/network/plan.h"

#include <vector>

namespace tw::testbed {

struct CheckedPath {
  int from = 0;  ///< host
  int to = 0;    ///< host
  bool operator==(const CheckedPath&) const = default;
};

enum class Coverage {
  EveryPort,  ///< each port is on a path
  EveryKind,  ///< each kind of port is: those with the same settings are built the same way
};

/// Round the hosts as a ring, then what the ring leaves out.
std::vector<CheckedPath> paths_to_check(const network::NetPlan& plan, Coverage coverage);

/// What a path should give: the rate of its slowest port, delays there and back, loss of all ports
/// together.
measure::PathExpectation expectation(const network::NetPlan& plan, const CheckedPath& path);

}  // namespace tw::testbed
