// SPDX-License-Identifier: Apache-2.0
// How long flows took, by their sizes. Size classes are DCTCP's: to 100 kB, to 10 MB, above.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/load/outcome.h"
#include "trainwire/load/time_histogram.h"

#include <array>
#include <cstdint>
#include <vector>

namespace tw::load {

class CompletionTimes {
 public:
  void finish(std::int64_t bytes, Duration time);
  /// A flow that had not finished.
  void censor(std::int64_t bytes);
  void add(const CompletionTimes& other);
  /// All of them, also those without flows.
  std::vector<CompletionClass> classes() const;

 private:
  static constexpr std::size_t kClasses = 3;
  std::array<TimeHistogram, kClasses> times_ = {};
  std::array<std::int64_t, kClasses> censored_ = {};
};

}  // namespace tw::load
