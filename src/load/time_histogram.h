// SPDX-License-Identifier: Apache-2.0
// Times counted in cells that grow with the time: any number of them in 30 kB, quantiles within
// 1.6 %, the mean exactly.

#pragma once

#include "trainwire/base/units.h"

#include <array>
#include <cstdint>

namespace tw::load {

class TimeHistogram {
 public:
  /// Negative times count as 0.
  void add(Duration time);
  void add(const TimeHistogram& other);
  std::int64_t count() const { return count_; }
  /// Seconds; 0 when there are none.
  double mean() const;
  /// The middle of the cell that holds it, in seconds; 0 when there are none.
  double quantile(double p) const;

 private:
  /// Cells below 64 ns are a nanosecond wide; each power of two above has 32.
  static constexpr std::size_t kParts = 32;
  static constexpr std::size_t kCells = 2 * kParts + 57 * kParts;
  static std::size_t cell(std::uint64_t ns);
  static double middle_ns(std::size_t cell);

  std::array<std::int64_t, kCells> cells_ = {};
  std::int64_t count_ = 0;
  double sum_ns_ = 0;
};

}  // namespace tw::load
