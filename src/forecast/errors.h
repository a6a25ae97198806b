// SPDX-License-Identifier: Apache-2.0
// How wrong predictions were: a table learned from runs (data/errors.csv, which bench/calibrate writes), and how often
// intervals made with it covered runs that were not used.
//
// An error is told in parts of what the network takes of a step (error_scale): compute is known, what the network adds is
// predicted. It is the logarithm of what measured over predicted is there. A regime's error is the 90 % quantile of their amounts as conformal
// prediction takes it (the k-th smallest of n, k = ceil(0.9 (n + 1))); with fewer than nine runs the largest of them, at least
// all regimes' together.
//
// Limits: runs were emulated, 2 to 16 hosts, 50 Mbit/s to 1 Gbit/s; what lies outside is extrapolated (interval.h).

#pragma once

#include "trainwire/forecast/regime.h"
#include "trainwire/forecast/step.h"

#include <string>
#include <string_view>
#include <vector>

namespace tw::forecast {

/// A row: runs of one regime predicted in one way.
struct FormError {
  Method method = Method::Flow;  ///< formula and flow level are one: they agree
  Regime regime = Regime::Bandwidth;
  int runs = 0;
  double error = 0;  ///< 90 % of runs are nearer
};

struct Coverage {
  int runs = 0;     ///< not used for the errors
  int covered = 0;  ///< lay within their interval
  double share() const { return runs > 0 ? static_cast<double>(covered) / runs : 0; }
};

struct Errors {
  std::vector<FormError> rows = {};
  Coverage flow = {};
  Coverage packet = {};

  double of(Method method, Regime regime) const;
  int runs_of(Method method, Regime regime) const;
  const Coverage& coverage(Method method) const { return method == Method::Packet ? packet : flow; }
};

/// Throws DataError with the line that is not understood.
Errors errors_in(std::string_view table);
/// The table that the program carries.
const Errors& errors();

/// What errors are parts of: the step without its compute, and a twentieth of that.
double error_scale(const StepTime& step);

}  // namespace tw::forecast
