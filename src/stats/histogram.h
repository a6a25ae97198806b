// SPDX-License-Identifier: Apache-2.0
// How often values fall into bins of equal width.
//
// Bins are half-open, [low, low + width), but the last one also takes its upper end. Without a
// number of bins their width follows Freedman & Diaconis (1981, 10.1007/BF01025868): twice the
// interquartile range over n^(1/3); if that is 0 there are log2(n) + 1 bins (Sturges). Never more
// than kMostBins: one far outlier must not cost a million empty bins.

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tw::stats {

inline constexpr std::size_t kMostBins = 1000;

struct HistogramOptions {
  std::optional<std::size_t> bins = {};
  std::optional<double> low = {};   ///< default: the smallest value
  std::optional<double> high = {};  ///< default: the largest value
};

struct Histogram {
  double low;
  double width;  ///< of one bin; 0 when all values are equal (one bin)
  std::vector<std::size_t> counts;
  std::size_t below;  ///< values left out because they are less than `low`
  std::size_t above;

  double centre(std::size_t bin) const { return low + (static_cast<double>(bin) + 0.5) * width; }
};

/// REQUIRES: values not empty and finite; bins, if given, in 1..kMostBins; low <= high.
Histogram histogram(std::span<const double> values, const HistogramOptions& options = {});

/// The counts over the highest of them, so that shapes of unequal samples can be laid over one
/// another; zeros when nothing was counted.
std::vector<double> peak_normalised(const Histogram& histogram);

}  // namespace tw::stats
