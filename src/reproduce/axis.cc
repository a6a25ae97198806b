// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/axis.h"

#include <algorithm>
#include <cmath>

namespace tw::reproduce {
namespace {

constexpr double kWide = 30;

bool all_positive(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

}  // namespace

bool wants_log(std::span<const double> values) {
  if (values.empty() || !all_positive(values)) return false;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *high > kWide * *low;
}

Axis::Axis(std::span<const double> values, AxisRange places, bool log)
    : places_(places), log_(log && all_positive(values)), low_(0), high_(1) {
  if (values.empty()) return;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  if (log_) {
    low_ = std::log10(*low);
    high_ = std::log10(*high);
    const double room = std::max(0.05 * (high_ - low_), 0.05);
    low_ -= room;
    high_ += room;
    return;
  }
  low_ = std::min(0.0, *low);
  high_ = std::max(0.0, *high);
  if (high_ == low_) high_ = low_ + 1;
  const double room = 0.05 * (high_ - low_);
  if (low_ < 0) low_ -= room;
  high_ += room;
}

double Axis::place(double value) const {
  const double x = log_ ? std::log10(value) : value;
  return places_.from + (places_.to - places_.from) * (x - low_) / (high_ - low_);
}

std::vector<double> Axis::marks() const {
  std::vector<double> marks;
  if (log_) {
    const bool is_short = high_ - low_ < 2;
    for (double power = std::floor(low_); power <= high_; ++power) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double at = power + std::log10(factor);
        if ((factor == 1 || is_short) && at >= low_ && at <= high_) {
          marks.push_back(std::pow(10, at));
        }
      }
    }
    return marks;
  }
  const double rough = (high_ - low_) / 6;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double share = rough / power;
  const double step = power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
  for (double at = std::ceil(low_ / step) * step; at <= high_; at += step) {
    marks.push_back(std::fabs(at) < step / 1000 ? 0 : at);
  }
  return marks;
}

}  // namespace tw::reproduce
