// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/reduce.h"

#include "trainwire/base/error.h"
#include "trainwire/report/packed.h"
#include "trainwire/stats/ecdf.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace tw::report {

using nlohmann::ordered_json;

void TimeSpan::include(std::int64_t time_ns) {
  from_ns = std::min(from_ns, time_ns);
  to_ns = std::max(to_ns, time_ns);
}

TimeBuckets::TimeBuckets(TimeSpan span, std::size_t count)
    : span_(span),
      width_ns_(std::max(1.0, static_cast<double>(span.to_ns - span.from_ns)) /
                static_cast<double>(count)),
      sum_(count, 0),
      largest_(count, std::numeric_limits<double>::quiet_NaN()),
      last_(largest_),
      samples_(count, 0) {
  check(count >= 1 && !span.empty(), "buckets need a span and a number");
}

void TimeBuckets::add(std::int64_t time_ns, double value) {
  const double place = static_cast<double>(time_ns - span_.from_ns) / width_ns_;
  const double last = static_cast<double>(sum_.size() - 1);
  const auto i = static_cast<std::size_t>(std::clamp(place, 0.0, last));
  sum_[i] += value;
  largest_[i] = samples_[i] == 0 ? value : std::max(largest_[i], value);
  last_[i] = value;
  ++samples_[i];
}

std::vector<double> TimeBuckets::means() const {
  std::vector<double> means(sum_.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < means.size(); ++i) {
    if (samples_[i] > 0) means[i] = sum_[i] / static_cast<double>(samples_[i]);
  }
  return means;
}

ordered_json distribution(std::vector<double> values, std::size_t count) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return nullptr;
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  ordered_json document{{"n", n},
                        {"mean", short_number(std::accumulate(values.begin(), values.end(), 0.0) /
                                              static_cast<double>(n))},
                        {"min", short_number(values.front())},
                        {"max", short_number(values.back())},
                        {"band", short_number(stats::ecdf_band(n))}};
  if (n > count) {
    std::vector<double> some;
    for (std::size_t i = 0; i < count; ++i) {
      const double place = static_cast<double>(i) * static_cast<double>(n - 1) /
                           static_cast<double>(std::max<std::size_t>(1, count - 1));
      some.push_back(values[static_cast<std::size_t>(std::lround(place))]);
    }
    values = std::move(some);
  }
  document["q"] = short_numbers(std::move(values));
  return document;
}

ordered_json histogram_document(const std::vector<double>& values,
                                const stats::HistogramOptions& options) {
  const stats::Histogram histogram = stats::histogram(values, options);
  return {{"low", histogram.low}, {"width", histogram.width}, {"counts", histogram.counts}};
}

ordered_json thinned(const std::vector<double>& values, std::size_t count) {
  const std::size_t per = (values.size() + count - 1) / std::max<std::size_t>(1, count);
  if (per <= 1) return {{"per", 1}, {"mean", short_numbers(values)}};
  std::vector<double> mean, low, high;
  for (std::size_t i = 0; i < values.size(); i += per) {
    const auto some = std::span(values).subspan(i, std::min(per, values.size() - i));
    const auto [least, most] = std::minmax_element(some.begin(), some.end());
    mean.push_back(std::accumulate(some.begin(), some.end(), 0.0) /
                   static_cast<double>(some.size()));
    low.push_back(*least);
    high.push_back(*most);
  }
  return {{"per", per},
          {"mean", short_numbers(std::move(mean))},
          {"min", short_numbers(std::move(low))},
          {"max", short_numbers(std::move(high))}};
}

}  // namespace tw::report
