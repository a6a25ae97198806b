// SPDX-License-Identifier: Apache-2.0
// An estimate never stands alone: it carries its interval, that interval's confidence, and how many
// samples it rests on.

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

/// Median of a series in time order with an interval that respects its autocorrelation: moving
/// blocks of values are drawn with replacement (Kunsch 1989, 10.1214/aos/1176347265). The
/// same series always gives the same interval. With fewer than 3 values the interval is the range.
/// REQUIRES: values not empty.
Estimate median_estimate(std::span<const double> values, const BootstrapOptions& options = {});

}  // namespace tw::stats
