// SPDX-License-Identifier: Apache-2.0
// What ols() computes from a finished fit: see Diagnostics in ols.h.

#pragma once

#include "trainwire/stats/ols.h"

#include <span>

namespace tw::stats {

/// A fit as far as the diagnostics need it.
struct FitParts {
  std::span<const double> residuals;
  std::span<const double> leverage;  ///< diagonal of the hat matrix
  std::size_t parameters;            ///< with the intercept
  double condition_number;
  double squares_r_squared;  ///< R^2 of the squared residuals on the columns
};

Diagnostics diagnose(const FitParts& fit);

}  // namespace tw::stats
