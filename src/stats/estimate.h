// SPDX-License-Identifier: Apache-2.0
// An estimate never stands alone: it carries its interval, that interval's confidence, and how many
// samples it rests on.
//
// Times of steps resemble those before them, and intervals that take them for independent are too
// narrow: these take neighbours together, in batches or in blocks. The same series always gives the
// same interval.

#pragma once

#include <cstddef>
#include <span>

namespace tw::stats {

struct Estimate {
  double value;
  double low;
  double high;
  double confidence;  ///< that the true value lies in [low, high], e.g. 0.95
  std::size_t n;
  bool operator==(const Estimate&) const = default;
};

struct BootstrapOptions {
  double confidence = 0.95;
  int resamples = 500;
  unsigned seed = 1;
  std::size_t block = 0;  ///< values that are drawn together; 0: n^(1/3)
};

/// Mean of a series in time order, by batch means: the means of batches of neighbours are nearly
/// independent, and Student's t of their number gives the interval (Schmeiser 1982,
/// 10.1287/opre.30.3.556). 10 to 30 batches from 100 values on; below that batches of sqrt(n),
/// fewer and so with a wide interval rather than a wrong one; below 20 values correlation cannot be
/// seen and each is its own batch. With fewer than 3 values the interval is the range. REQUIRES:
/// values not empty, 0 < confidence < 1.
Estimate mean_estimate(std::span<const double> values, double confidence = 0.95);

/// Median of a series in time order with an interval that respects its autocorrelation: moving
/// blocks of values are drawn with replacement (Kunsch 1989, 10.1214/aos/1176347265). The
/// same series always gives the same interval. With fewer than 6 values, which do not enclose the
/// median with 95 %, the interval is the range. REQUIRES: values not empty.
Estimate median_estimate(std::span<const double> values, const BootstrapOptions& options = {});

/// The p-quantile of a series in time order (type 7, as quantile()), with an interval from moving
/// blocks whose length follows the series' correlation unless given. With fewer than
/// values_for_quantile() values the interval ends at the largest value seen (or the smallest, for p
/// below one half): no bound, since the true quantile may well lie beyond it. REQUIRES: values not
/// empty, 0 < p < 1.
Estimate quantile_estimate(std::span<const double> values, double p,
                           const BootstrapOptions& options = {});

/// How many independent values it takes until the most extreme of them bounds the p-quantile with
/// `confidence`: for p = 0.99 and 0.95 it is 368, since 0.99^368 < 0.025.
/// REQUIRES: 0 < p < 1, 0 < confidence < 1.
std::size_t values_for_quantile(double p, double confidence = 0.95);

}  // namespace tw::stats
