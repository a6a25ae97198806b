// SPDX-License-Identifier: Apache-2.0
// The moving-block bootstrap: series like the one observed, made of blocks of neighbours drawn with
// replacement, so that what neighbours have in common stays in them (Kunsch 1989,
// 10.1214/aos/1176347265).
//
// Limits: blocks keep correlation that is shorter than they are; a trend over the whole series is
// none of that.

#pragma once

#include "trainwire/base/random.h"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace tw::stats {

/// Correlation of each value with the one after it; 0 for a series that never changes.
/// REQUIRES: there are values.
double lag_one_correlation(std::span<const double> values);

/// n^(1/3), to the nearest: enough for weak correlation. 1 at least.
std::size_t usual_block(std::size_t n);

/// usual_block(), or more when neighbours resemble each other more: the length that is best for the
/// mean of a first-order autoregression with the same correlation of neighbours (Andrews 1991,
/// 10.2307/2938229, the Bartlett kernel). At most a fifth of the series.
std::size_t block_length(std::span<const double> values);

/// As many values as `values` has, in blocks of `block` that begin anywhere.
/// REQUIRES: 1 <= block <= values.size().
std::vector<double> resample(std::span<const double> values, std::size_t block, Random& random);

/// A number drawn from a whole series: its mean, a quantile.
using StatisticOf = std::function<double(std::vector<double>)>;

/// `statistic` of each of `count` resamples.
std::vector<double> replicates(std::span<const double> values, const StatisticOf& statistic,
                               int count, std::size_t block, Random& random);

}  // namespace tw::stats
