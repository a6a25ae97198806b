// SPDX-License-Identifier: Apache-2.0
// Order statistics of small samples.

#pragma once

#include <vector>

namespace tw::stats {

/// The p-quantile by linear interpolation between order statistics (type 7 of Hyndman & Fan 1996,
/// 10.2307/2684934). REQUIRES: values not empty, 0 <= p <= 1.
double quantile(std::vector<double> values, double p);

/// REQUIRES: values not empty.
double median(std::vector<double> values);

/// The median of the half of the values, rounded up to a majority, that lie closest together (the shorth of Andrews et al. 1972):
/// of few values, of which some are of something else, the usual one. REQUIRES: values not empty.
double usual(std::vector<double> values);

/// Standard deviation over mean; 0 for fewer than two values or a mean of 0.
double variation(const std::vector<double>& values);

}  // namespace tw::stats
