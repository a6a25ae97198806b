// SPDX-License-Identifier: Apache-2.0
// Long series and samples made short: buckets of time, and distributions by their quantiles.

#pragma once

#include "trainwire/stats/histogram.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tw::report {

/// Of counts that may be anybody's: what is too large is the largest there is. REQUIRES: a, b >= 0.
inline std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/// Times as nanoseconds since 1970.
struct TimeSpan {
  std::int64_t from_ns = INT64_MAX;
  std::int64_t to_ns = INT64_MIN;
  bool empty() const { return from_ns > to_ns; }
  void include(std::int64_t time_ns);
};

/// Samples of one quantity put into `count` buckets of equal width.
class TimeBuckets {
 public:
  /// REQUIRES: count >= 1, span not empty.
  TimeBuckets(TimeSpan span, std::size_t count);
  /// Times outside the span count for its first or last bucket.
  void add(std::int64_t time_ns, double value);

  double width_s() const { return width_ns_ * 1e-9; }
  /// NaN where a bucket has no sample.
  std::vector<double> means() const;
  const std::vector<double>& largest() const { return largest_; }
  const std::vector<double>& last() const { return last_; }

 private:
  TimeSpan span_;
  double width_ns_;
  std::vector<double> sum_, largest_, last_;
  std::vector<std::size_t> samples_;
};

/// {"n": size, "mean", "min", "max", "q": `count` quantiles at even shares from 0 to 1, "band": how
/// far the 95 % band of the distribution function reaches (stats/ecdf.h)}; null for no values. With
/// no more values than `count` the quantiles are the values themselves, sorted.
nlohmann::ordered_json distribution(std::vector<double> values, std::size_t count);

/// {"low", "width", "counts"} of bins of equal width. REQUIRES: values not empty and finite.
nlohmann::ordered_json histogram_document(const std::vector<double>& values,
                                          const stats::HistogramOptions& options);

/// Neighbours taken together until at most `count` are left: {"per": values in each, "mean": [],
/// "min": [], "max": []}; the last two only where `per` is more than 1.
nlohmann::ordered_json thinned(const std::vector<double>& values, std::size_t count);

}  // namespace tw::report
