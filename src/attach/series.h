// SPDX-License-Identifier: Apache-2.0
// What devices had counted at many moments, in bounded memory; and the steps of a job by its bytes over time alone, for jobs
// whose packets pass by the kernel.
//
// Limits: steps are found where at least four of them are alike, each of ten samples or more; a step's time is as fine as the
// samples are.

#pragma once

#include "trainwire/attach/processes.h"
#include "trainwire/record/run.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::attach {

class Series {
 public:
  struct Row {
    double time_s;
    std::vector<DeviceCounts>
        counts;  ///< in the order of names(); shorter where devices came later
  };
  /// Rows times devices; beyond that every second row is given up, and from then on every second sample not taken.
  explicit Series(std::size_t most = std::size_t{1} << 18) : most_(most) {}

  void add(double time_s, const Devices& now);
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::size_t most_;
  std::size_t stride_ = 1;
  std::size_t skipped_ = 0;
  std::vector<std::string> names_;
  std::vector<Row> rows_;
};

/// `bytes` were moved in equal intervals of `interval_s`. Nothing where no rhythm is found.
struct Rhythm {
  std::vector<double>
      starts_s;  ///< of steps, after the first interval's begin; one more than there are steps
  double likeness = 0;  ///< of one step's bytes over time to the next one's, 0 to 1
};
std::optional<Rhythm> rhythm_of(std::span<const double> bytes, double interval_s);

/// By the device that moved most; `began_s` is since 1970.
std::optional<record::Iterations> steps_by_counters(const Series& series, double began_s);

}  // namespace tw::attach
