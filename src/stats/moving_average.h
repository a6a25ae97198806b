// SPDX-License-Identifier: Apache-2.0
// Series made smooth for figures: centred moving averages, and rates over time from a counter of
// bytes.
//
// A centred window is symmetrical, so it does not move a peak in time; it needs an odd width, and
// an even one counts as the next odd one. At both ends the window is what there is of it, and again
// symmetrical: it shrinks on both sides.

#pragma once

#include "trainwire/base/units.h"

#include <cstddef>
#include <span>
#include <vector>

namespace tw::stats {

/// As many averages as values. O(n). REQUIRES: width >= 1.
std::vector<double> moving_average(std::span<const double> values, std::size_t width);

/// What a counter that only grows showed at a time.
struct CounterSample {
  Duration at;
  Bytes total;
};

/// The mean rate of the bytes between two times.
struct RateSample {
  Duration from;
  Duration to;
  BitRate rate;
};

/// One rate for each pair of neighbouring samples, over a centred window of `width` such pairs: its
/// bytes over its time, which is their moving average weighted by time and right for samples at
/// uneven times. Samples at the same time count as one, the last. Throws DataError when the time
/// or the counter runs backwards. REQUIRES: width >= 1.
std::vector<RateSample> rates_over_time(std::span<const CounterSample> samples,
                                        std::size_t width = 1);

}  // namespace tw::stats
