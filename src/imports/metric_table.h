// SPDX-License-Identifier: Apache-2.0
// A metric that tells what a step took, as Weights & Biases exports it ("Step","run - timing_s/step","run - timing_s/step__MIN")
// and loggers of CSV write it ("epoch,step,step_time").
//
// Limits: of several runs in one export the first counts.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace tw::imports {

class MetricTable {
 public:
  /// Takes a header for what it is. False when there is none, or the line has no columns for it.
  bool line(std::string_view text);
  /// Of the line before: number and seconds; nothing of a header, and where the metric was not written.
  std::optional<std::pair<std::int64_t, double>> step() const { return step_; }

 private:
  bool header(std::string_view text);

  struct Columns {
    std::size_t step;
    std::size_t time;
    double unit_s;
    std::size_t count;
  };
  std::optional<Columns> columns_;
  std::optional<std::pair<std::int64_t, double>> step_;
};

}  // namespace tw::imports
