// SPDX-License-Identifier: Apache-2.0
// Step time against cross traffic on a link of known capacity (Salamy 2022, equation 3.7):
//
//   t(x) = A exp(B / (C - x)^n)        x load, C capacity, t time; A, B fitted
//
// The exponent n names the family: 1 for long flows, 1/2 for web-search traffic, 2 for bursts or
// short ranges. It is fixed, chosen of these three by the residuals (equal numbers of parameters:
// the order of AIC is that of the residuals), or fitted.
//
// Space. Noise of step times grows with them, and they span decades near the capacity, so the
// default minimises residuals of ln t, where the noise is even and the intervals hold. With n fixed
// that is a straight line over r^n, r = C / (C - x): exact, no start values. Linear space minimises
// residuals of t, as the source did with a spreadsheet's solver: the largest times decide alone.
//
// Validity. The curve has an asymptote at C, so it says nothing beyond the largest load that was
// measured, and nothing within 1 % of C, for capacities are not known better than that.
//
// Units: of the caller; B has that of x to the n. Pure. C is not fitted: with n it would be
// determined only by points that lie nearer to the asymptote than measurements are exact.

#pragma once

#include "trainwire/stats/estimate.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::stats {

enum class Space { Log, Linear };
enum class Exponent { Fixed, Chosen, Fitted };

struct SaturationOptions {
  double capacity;
  Exponent exponent = Exponent::Chosen;
  double fixed = 1;  ///< n when it is Fixed
  Space space = Space::Log;
  double confidence = 0.95;
};

/// A value of n that was tried, and what it left.
struct TriedExponent {
  double n;
  double ssr;
};

struct SaturationFit {
  Estimate a;
  Estimate b;
  Estimate n;  ///< without width unless it was fitted
  double capacity;
  Exponent exponent;
  Space space;
  double r_squared;           ///< in t
  double r_squared_log;       ///< in ln t
  double residual_deviation;  ///< of t, or of ln t (then a share: 0.03 is 3 %)
  std::size_t points;
  double degrees_of_freedom;
  double valid_from;  ///< smallest load
  double valid_to;    ///< largest load, at most 99 % of the capacity
  std::vector<TriedExponent> tried = {};
  /// Estimated, row by row: of ln A and B/C^n, or when n is fitted of ln A, ln(B/C^n) and n.
  std::vector<double> covariance = {};
};

/// How far below the smallest load the curve may be read, in shares of the measured range: it is
/// flat there.
inline constexpr double kMarginBelow = 0.05;
/// How near to the capacity nothing is said, in shares of it.
inline constexpr double kAsymptoteMargin = 0.01;

/// C / (C - x): 1 without load, and a straight axis for what an asymptote at C bends (equation
/// 3.2). REQUIRES: x < capacity.
double rescaled(double x, double capacity);

/// Throws DataError with the reason when there is nothing to fit: fewer than 3 different loads (4
/// unless n is fixed), a load that is not finite or not below the capacity, a time that is not
/// positive and finite, times all equal, or an n that the points do not determine.
/// REQUIRES: as many loads as times, capacity > 0.
SaturationFit fit_saturation(std::span<const double> loads, std::span<const double> times,
                             const SaturationOptions& options);

/// Why the curve is not to be read at `x`; nothing when it may be.
std::optional<std::string> refusal(const SaturationFit& fit, double x);
/// The curve at `x` with its interval (of the mean, not of a single step). Throws DataError with
/// the refusal.
Estimate evaluate(const SaturationFit& fit, double x);

}  // namespace tw::stats
