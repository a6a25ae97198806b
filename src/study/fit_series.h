// SPDX-License-Identifier: Apache-2.0
// A table cut into the series that `fit` fits one by one: what to take as x and y, in which units,
// and which rows belong together.
//
// Numbers are fitted in a unit for people and reported in the column's own: the rates of a sweep
// are bit/s in its table and in JSON, Gbit/s in equations, and both are those of the cluster that
// is emulated (times run.scale).

#pragma once

#include "trainwire/study/fit_table.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tw::study {

enum class FitModel {
  Saturation,
  Ols,
  AlphaBeta,
  Linear,
  Power,    ///< y = a x^b, as of loss
  Inverse,  ///< y = a + b / x, as of ranks that share a work
  Log,      ///< y = a + b ln x, as of the depth of a tree
};
std::string_view name_of(FitModel model);

/// Columns by name, as asked for or as the source has them by default.
struct FitColumns {
  FitModel model;
  std::vector<std::string> x;
  std::string y;
  std::vector<std::string> by = {};
  std::vector<std::string> factors = {};  ///< of x: those taken as categories
};

/// What was typed; empty where nothing was.
struct FitWishes {
  std::string model;
  std::vector<std::string> x = {};
  std::string y = {};
  std::vector<std::string> by = {};
  std::vector<std::string> factors = {};
};

/// Throws SpecError when a column or the model is not named and there is no default for it, or is
/// not there.
FitColumns resolve_columns(const FitTable& table, const FitWishes& wishes);

/// How a column's numbers are shown.
struct FitAxis {
  std::string column;
  std::string unit = {};            ///< shown: "Gbit/s", "s"; "" when the name tells none
  std::string column_unit = {};     ///< of the table and of JSON
  double per_shown = 1;             ///< column units in one shown
  std::optional<double> base = {};  ///< bit/s, seconds or bytes in one shown
};
FitAxis axis_of(const FitTable& table, const std::string& column);

struct FitPoint {
  double x;  ///< in shown units
  double y;
  std::optional<double> p99 = {};
};

struct FitSeries {
  std::string label;
  std::vector<std::pair<std::string, std::string>> by = {};  ///< column and value
  std::vector<std::size_t> rows = {};
};

/// By the values of the columns `by`, in order of appearance. Rows of a sweep that are not
/// complete, and rows without a number where one is needed, are left out; each reason is told once
/// in `notes`. Throws DataError for a field that is no number, and when nothing is left.
std::vector<FitSeries> series_of(const FitTable& table, const FitColumns& columns,
                                 std::vector<std::string>& notes);

/// A field's number in the column's unit; in a sweep rates and bytes times run.scale. REQUIRES: the
/// row is of a series.
double number_at(const FitTable& table, std::size_t row, std::string_view column);

/// By x. REQUIRES: columns.x has one column.
std::vector<FitPoint> points_of_series(const FitTable& table, const FitColumns& columns,
                                       const FitSeries& series);

/// The largest of a column over a series, times run.scale; nothing when the table is no sweep's,
/// has no such column, or no value above 0.
std::optional<double> scaled_most(const FitTable& table, const FitSeries& series,
                                  std::string_view column);

/// run.scale of a series; 1 when it says none.
double scale_of(const FitTable& table, const FitSeries& series);

}  // namespace tw::study
