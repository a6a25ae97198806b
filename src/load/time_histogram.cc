// SPDX-License-Identifier: Apache-2.0
#include "trainwire/load/time_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tw::load {

// A time of b bits, b > 6, keeps its upper 6 bits: the first is 1, the other 5 name one of 32
// cells.
std::size_t TimeHistogram::cell(std::uint64_t ns) {
  if (ns < 2 * kParts) return static_cast<std::size_t>(ns);
  const int shift = static_cast<int>(std::bit_width(ns)) - 6;
  return kParts * static_cast<std::size_t>(shift) + static_cast<std::size_t>(ns >> shift);
}

double TimeHistogram::middle_ns(std::size_t cell) {
  if (cell < 2 * kParts) return static_cast<double>(cell);
  const int shift = static_cast<int>(cell / kParts) - 1;
  const double from = static_cast<double>(kParts + cell % kParts);
  return std::ldexp(from + 0.5, shift);
}

void TimeHistogram::add(Duration time) {
  const std::int64_t ns = std::max<std::int64_t>(time.count(), 0);
  ++cells_[cell(static_cast<std::uint64_t>(ns))];
  ++count_;
  sum_ns_ += static_cast<double>(ns);
}

void TimeHistogram::add(const TimeHistogram& other) {
  for (std::size_t i = 0; i < kCells; ++i) cells_[i] += other.cells_[i];
  count_ += other.count_;
  sum_ns_ += other.sum_ns_;
}

double TimeHistogram::mean() const {
  return count_ > 0 ? 1e-9 * sum_ns_ / static_cast<double>(count_) : 0;
}

double TimeHistogram::quantile(double p) const {
  if (count_ == 0) return 0;
  const auto rank = static_cast<std::int64_t>(p * static_cast<double>(count_ - 1));
  std::int64_t below = 0;
  std::size_t i = 0;
  while (i < kCells && below + cells_[i] <= rank) below += cells_[i++];
  return 1e-9 * middle_ns(std::min(i, kCells - 1));
}

}  // namespace tw::load
