// SPDX-License-Identifier: Apache-2.0
// What a cluster really gives, measured before anybody measures on it.

#pragma once

#include "trainwire/testbed/check_paths.h"
#include "trainwire/testbed/cluster.h"

#include <functional>
#include <string>
#include <vector>

namespace tw::testbed {

enum class Fitness {
  Good,     ///< rate within 3 %, round trip within 5 % or 50 us, loss within its 99 % interval
  Warned,   ///< beyond that
  Refused,  ///< beyond 10 % (or 0.5 ms): not to be measured on
};

/// One path, asked for and found.
struct PathCheck {
  CheckedPath path;
  measure::PathExpectation expected;
  measure::PathMeasurement found;
  Fitness fitness = Fitness::Good;
  std::vector<std::string> problems = {};  ///< a sentence each
};

struct CheckOptions {
  Coverage coverage = Coverage::EveryPort;
  /// A noisy machine disturbs: a path that is not Good is measured again, and the best counts.
  int attempts = 3;
  std::function<void(std::size_t done, std::size_t all)> progress = {};
  std::function<bool()> stop = {};
};

/// A host as one end of a path. REQUIRES: the cluster outlives it.
measure::PathEnd end_of(const Cluster& cluster, int host);

/// Judges one measurement; pure.
PathCheck judge(const CheckedPath& path, const measure::PathExpectation& expected,
                const measure::PathMeasurement& found);

/// Calibrates the engine, then measures one path after another. Throws SystemError when a path carries nothing at all.
std::vector<PathCheck> check_network(const Cluster& cluster, const CheckOptions& options = {});

/// The worst of all; Good of none.
Fitness worst(const std::vector<PathCheck>& checks);

}  // namespace tw::testbed
