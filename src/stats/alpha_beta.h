// SPDX-License-Identifier: Apache-2.0
// The time of a collective as latency and bandwidth: t = alpha + beta * bytes (Hockney 1994,
// 10.1016/S0167-8191(06)80021-9).
//
// Sizes span decades and noise is relative, so residuals count relative to the time (weights 1/t^2,
// with fitted times after a first pass): a small exchange tells as much of alpha as a large one of
// beta. Pure.
//
// Limits: one line. Where an exchange changes its way (another protocol, caches that overflow) the
// residual deviation shows it.

#pragma once

#include "trainwire/stats/estimate.h"

#include <cstddef>
#include <optional>
#include <span>

namespace tw::stats {

struct AlphaBetaFit {
  Estimate alpha_s;
  Estimate beta_s_per_byte;
  /// 8 / beta; nothing when beta is not positive, infinite above when its interval reaches 0.
  std::optional<Estimate> bandwidth_bps = {};
  double r_squared;      ///< in t
  double r_squared_log;  ///< in ln t; in it small exchanges count as large ones do. NaN when the
                         ///< fitted time of some size is not positive.
  double residual_deviation;  ///< relative to the fitted time: 0.03 is 3 %
  std::size_t points;
  double degrees_of_freedom;
  double valid_from;  ///< bytes
  double valid_to;
  double covariance;  ///< of alpha and beta
};

/// Throws DataError with the reason when there is nothing to fit: fewer than 3 points or 2
/// different sizes, a size that is negative, a time that is not positive, times all equal, or numbers
/// so far apart that nothing is left of the small ones.
/// REQUIRES: as many sizes as times.
AlphaBetaFit fit_alpha_beta(std::span<const double> bytes, std::span<const double> times,
                            double confidence = 0.95);

/// The line at a size, with its interval (of the mean). Throws DataError outside the sizes it was
/// fitted to.
Estimate evaluate(const AlphaBetaFit& fit, double bytes);

}  // namespace tw::stats
