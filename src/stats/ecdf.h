// SPDX-License-Identifier: Apache-2.0
// Empirical distribution function: which share of the values is no larger than x, with a band that
// holds the whole true curve at once.
//
// The band is that of Dvoretzky, Kiefer & Wolfowitz with Massart's constant (1990,
// 10.1214/aop/1176990746): sqrt(ln(2 / (1 - confidence)) / 2n) above and below.
//
// Limits: the band takes the values for independent; for a series whose neighbours resemble each
// other it is too narrow.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tw::stats {

struct EcdfPoint {
  double value;
  double share;  ///< of the values that are <= value
  double low;    ///< of the band at `value`, in 0..1
  double high;
  bool operator==(const EcdfPoint&) const = default;
};

struct Ecdf {
  std::vector<EcdfPoint> points;  ///< one for each different value, rising
  double confidence;
  std::size_t n;
};

/// How far above and below the band of n values reaches. REQUIRES: n > 0, 0 < confidence < 1.
double ecdf_band(std::size_t n, double confidence = 0.95);

/// REQUIRES: values not empty, 0 < confidence < 1.
Ecdf ecdf(std::span<const double> values, double confidence = 0.95);

}  // namespace tw::stats
