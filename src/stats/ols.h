// SPDX-License-Identifier: Apache-2.0
// Ordinary least squares: a response as a sum of numeric columns and of categorical factors, with
// what a reader needs to believe it or not.
//
// Every design has an intercept. A factor is coded by treatment: one column for each level but the
// reference, so its coefficient is the difference from the reference. Columns are centred, scaled
// and factored by Householder QR with column pivoting; the normal equations, which square the
// condition number, are never formed. NIST's Longley data come out to 12 digits.
//
// Limits: intervals and p-values assume errors that are independent, of one spread and roughly
// normal; the diagnostics are there to doubt it. Dense: memory is rows times columns.

#pragma once

#include "trainwire/stats/estimate.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tw::stats {

/// The right-hand side of a regression, one row an observation. The intercept is implied.
class Design {
 public:
  struct Column {
    std::string name;
    std::vector<double> values;
  };

  /// REQUIRES: as many values as the columns before have.
  void add(std::string name, std::span<const double> values);

  /// A column "name[level]" of zeros and ones for each level but `reference`, in sorted order. The
  /// reference is the first in sorted order unless given. Throws DataError for fewer than two
  /// levels or a reference that does not occur. REQUIRES: as for add().
  void add_factor(const std::string& name, std::span<const std::string> levels,
                  std::string reference = "");

  const std::vector<Column>& columns() const { return columns_; }

 private:
  std::vector<Column> columns_;
};

struct Coefficient {
  std::string name;  ///< of the column, or "intercept"
  Estimate value;
  double standard_error;
  double t;  ///< value over standard error
  double p;  ///< two-sided, of a true value of 0
};

/// Reasons to doubt a fit. A test that cannot be made (no columns, no residuals) has statistic 0
/// and p = 1.
struct Diagnostics {
  /// Of neighbouring rows: 2 when residuals are uncorrelated, towards 0 when each resembles the one
  /// before. (Durbin & Watson 1950, 10.2307/2332391)
  double durbin_watson;
  /// Normality of residuals, by skewness and kurtosis; chi-squared with 2 degrees of freedom.
  /// (Jarque & Bera 1987, 10.2307/1403192)
  double jarque_bera;
  double jarque_bera_p;
  /// Spread that depends on the columns: n times R^2 of the squared residuals on them, Koenker's
  /// form, as statsmodels' het_breuschpagan. (Koenker 1981, 10.1016/0304-4076(81)90062-2)
  double breusch_pagan;
  double breusch_pagan_p;
  /// Of the design with its intercept, each column scaled to length 1: does not depend on units;
  /// above 30 coefficients cannot be told apart well. (Belsley, Kuh & Welsch 1980,
  /// 10.1002/0471725153)
  double condition_number;
  double largest_leverage;  ///< 1: some row is fitted exactly, whatever it says
  /// The row that moves the fit most, and Cook's distance of it. Rows of leverage 1 do not count:
  /// there is no fit without them. (Cook 1977, 10.2307/1268249)
  double largest_cook;
  std::size_t largest_cook_row;
  /// Of normal errors; parameters are the coefficients, as in statsmodels (R counts one more, the
  /// deviation). Infinite for a perfect fit.
  double log_likelihood;
  double aic;
  double bic;
};

struct OlsFit {
  std::vector<Coefficient> coefficients;  ///< the intercept, then the columns in order
  double r_squared;                       ///< 0 when the response is the same in every row
  double adjusted_r_squared;
  double f;    ///< of all columns together; 0 without columns, infinite for a perfect fit
  double f_p;  ///< of a response that depends on no column
  double residual_deviation;
  std::size_t n;
  std::size_t degrees_of_freedom;  ///< of the residuals
  std::vector<double> fitted;
  std::vector<double> residuals;
  Diagnostics diagnostics;
};

/// Throws DataError: no more rows than coefficients, a value that is not finite, columns that
/// depend on one another (it names them). REQUIRES: y as long as the columns, 0 < confidence < 1.
OlsFit ols(const Design& design, std::span<const double> y, double confidence = 0.95);

}  // namespace tw::stats
