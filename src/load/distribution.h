// SPDX-License-Identifier: Apache-2.0
// How large flows are: a cumulative distribution as a table of two columns, size in bytes and the
// share of flows that are no larger.
//
// Between two rows sizes are spread evenly (the distribution is a straight line there), so that a
// draw is the inverse of a uniform number and the mean has a closed form. Rows of equal size are a
// point mass, and so is the share that the first row begins with.
//
// Limits: flows are independent of one another and of time; sizes are what an application sends,
// without any headers.

#pragma once

#include "trainwire/base/random.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::load {

class SizeDistribution {
 public:
  struct Row {
    double bytes = 0;
    double share = 0;  ///< of flows with at most that size
    bool operator==(const Row&) const = default;
  };

  /// Rows are lines of two numbers parted by blanks, tabs or a comma; "#" begins a comment. At
  /// least two rows, neither column falling, the last share 1. Throws DataError that names `name`
  /// and the line.
  static SizeDistribution parse(std::string_view text, std::string_view name);

  const std::vector<Row>& rows() const { return rows_; }
  /// Bytes; exact for the straight lines.
  double mean() const;
  double largest() const { return rows_.back().bytes; }
  /// The size below which that share of the flows lies. REQUIRES: 0 <= share <= 1.
  double quantile(double share) const;
  /// At least one byte.
  double draw(Random& random) const;
  /// Every size times `factor`. REQUIRES: factor > 0.
  SizeDistribution scaled(double factor) const;

  bool operator==(const SizeDistribution&) const = default;

 private:
  explicit SizeDistribution(std::vector<Row> rows) : rows_(std::move(rows)) {}

  std::vector<Row> rows_;
};

/// A built-in distribution ("websearch", "datamining"), the text of one (when it has more than one
/// line), or a file's. Throws DataError, SystemError when there is no such file either.
SizeDistribution distribution_named(const std::string& name_text_or_path);

/// The names of the built-in ones.
std::vector<std::string_view> distribution_names();

}  // namespace tw::load
