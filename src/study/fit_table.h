// SPDX-License-Identifier: Apache-2.0
// What `fit` reads: a table of named columns, from any CSV with a header, from the points of a
// sweep, from the rows of `bench exchange --json`, or from what another benchmark printed (tables/benchmark.h): bytes and
// time_s of each row, with op and ranks where there are several.
//
// A sweep's settings ("job.model=vgg16 traffic.0.load=0.3") become columns of their own, named
// after their keys, so that they can be asked for as any other.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::study {

struct FitTable {
  std::string name;  ///< of the file, for messages
  std::vector<std::string> header = {};
  std::vector<std::vector<std::string>> rows = {};  ///< each as long as the header
  std::vector<std::string> settings = {};           ///< names of the columns made of settings
  bool is_sweep = false;    ///< it has the columns of points.csv; rates and bytes are to be scaled
  std::string folder = {};  ///< of the sweep, when it was read from there

  std::optional<std::size_t> find(std::string_view column) const;
  /// What the field is worth; settings of a sweep have units.
  std::optional<double> number(std::size_t row, std::size_t column) const;
  /// Throws SpecError naming `option` and the nearest column.
  std::size_t column(std::string_view column, std::string_view option) const;
};

/// `text` as a benchmark's table, as CSV or as a JSON document with rows[]. Throws DataError when it is neither, has no
/// rows, names a column twice, or has a row of another length than its header.
FitTable parse_fit_table(std::string_view text, const std::string& name);

/// A file, a sweep's folder, or "-" for standard input. Throws SystemError too.
FitTable read_fit_table(const std::string& source);

/// The whole text as a finite number.
std::optional<double> number_in(std::string_view text);
/// The value of a swept setting, in its base unit: 0.0001 for "0.01%", 0.005 for "5ms".
std::optional<double> setting_in(std::string_view text);
/// Whether sums of squares of such numbers neither overflow nor vanish.
bool can_be_squared(double value);

}  // namespace tw::study
