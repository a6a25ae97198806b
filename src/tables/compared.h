// SPDX-License-Identifier: Apache-2.0
// Two benchmarks, size by size.
//
// A benchmark prints a mean, or one of a few, without its spread: a difference has no interval here, and whether it is
// chance is not told. The middle of all differences is: chance has no side, so that sizes which all changed alike are a
// change.

#pragma once

#include "trainwire/tables/benchmark.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tw::tables {

struct SizeCompared {
  std::string op;
  int ranks = 0;
  std::int64_t bytes = 0;
  double baseline_s = 0;
  double other_s = 0;
  double relative() const { return other_s / baseline_s - 1; }
};

struct CurvesCompared {
  std::string path;
  std::vector<SizeCompared> rows = {};
  std::size_t only_one = 0;  ///< sizes that one of them has
  double middle = 0;         ///< median of the rows' relative differences
  std::size_t slower = 0;    ///< rows
  std::size_t faster = 0;
};

/// Rows of the same operation and size; ranks must agree where both tell them. Throws DataError when there are none.
CurvesCompared compare_curves(const Benchmark& baseline, const Benchmark& other,
                              const std::string& path);

/// At most 30 lines.
std::string curves_text(const std::string& baseline, const std::vector<CurvesCompared>& compared);
nlohmann::ordered_json curves_document(const std::string& baseline,
                                       const std::vector<CurvesCompared>& compared);

}  // namespace tw::tables
