// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/ols.h"

#include "trainwire/base/error.h"
#include "trainwire/stats/distributions.h"
#include "trainwire/stats/ols_diagnostics.h"

#include <Eigen/QR>
#include <Eigen/SVD>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

namespace tw::stats {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// What is left of a column of length 1 after the others were taken out of it: less is rounding.
constexpr double kDependent = 1e-11;
/// What centring leaves of a column of length 1: less is rounding.
constexpr double kConstant = 1e-13;

std::size_t places(Index index) { return static_cast<std::size_t>(index); }

VectorXd vector_of(std::span<const double> values) {
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Index>(values.size()));
}

std::vector<double> list_of(const VectorXd& vector) { return {vector.begin(), vector.end()}; }

/// In two passes: the second takes out what the first lost to rounding.
double mean_of(const VectorXd& values) {
  const double rough = values.mean();
  return rough + (values.array() - rough).mean();
}

void refuse_not_finite(std::string_view name, std::span<const double> values) {
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (std::isfinite(values[row])) continue;
    throw DataError(fmt::format("least squares: {} of row {} is {}; remove the row or correct it",
                                name, row + 1, values[row]));
  }
}

void refuse_bad_data(const Design& design, std::span<const double> y) {
  for (const Design::Column& column : design.columns()) {
    check(column.values.size() == y.size(), "the response is as long as the columns");
    refuse_not_finite(column.name, column.values);
  }
  refuse_not_finite("the response", y);
  const std::size_t coefficients = design.columns().size() + 1;
  if (y.size() > coefficients) return;
  throw DataError(fmt::format(
      "least squares: {} rows for {} coefficients; give at least {} rows or fewer columns",
      y.size(), coefficients, coefficients + 1));
}

/// The columns centred and scaled to length 1, and their factors: columns * P = basis * R.
struct Factors {
  VectorXd means;
  VectorXd lengths;
  MatrixXd columns;
  MatrixXd basis;
  Eigen::ColPivHouseholderQR<MatrixXd> qr;
};

[[noreturn]] void refuse_dependent(const std::vector<std::string>& names) {
  throw DataError(
      fmt::format("least squares: columns depend on one another: {}; leave one of them out",
                  fmt::join(names, ", ")));
}

/// Column number `rank` in pivot order is a combination of those before it: names it and them.
[[noreturn]] void refuse_dependent(const Design& design, const Factors& factors) {
  const Index rank = factors.qr.rank();
  const auto& r = factors.qr.matrixR();
  const VectorXd combination =
      r.topLeftCorner(rank, rank).triangularView<Eigen::Upper>().solve(r.col(rank).head(rank));
  const auto& order = factors.qr.colsPermutation().indices();
  std::vector<std::string> names{design.columns()[places(order[rank])].name};
  for (Index i = 0; i < rank; ++i) {
    if (std::abs(combination[i]) > 1e-6) {
      names.push_back(design.columns()[places(order[i])].name);
    }
  }
  // The intercept may be part of it too (the columns are centred), but dropping it is no way out.
  refuse_dependent(names);
}

Factors factored(const Design& design, Index rows) {
  const auto count = static_cast<Index>(design.columns().size());
  Factors factors{.means = VectorXd(count),
                  .lengths = VectorXd(count),
                  .columns = MatrixXd(rows, count),
                  .basis = MatrixXd(rows, count),
                  .qr = {}};
  for (Index i = 0; i < count; ++i) {
    const Design::Column& column = design.columns()[places(i)];
    const VectorXd values = vector_of(column.values);
    factors.means[i] = mean_of(values);
    const VectorXd centred = values.array() - factors.means[i];
    factors.lengths[i] = centred.stableNorm();
    if (factors.lengths[i] <= kConstant * values.stableNorm()) {
      refuse_dependent({column.name, "intercept"});
    }
    factors.columns.col(i) = centred / factors.lengths[i];
  }
  if (count == 0) return factors;
  factors.qr.setThreshold(kDependent);
  factors.qr.compute(factors.columns);
  if (factors.qr.rank() < count) refuse_dependent(design, factors);
  factors.basis = factors.qr.householderQ() * MatrixXd::Identity(rows, count);
  return factors;
}

/// Share of the squares of a centred vector that lies in the space of the columns.
double share_explained(const Factors& factors, const VectorXd& centred) {
  const double squares = centred.squaredNorm();
  return squares > 0 ? (factors.basis.transpose() * centred).squaredNorm() / squares : 0;
}

/// Of the design with its intercept, uncentred, each column of length 1.
double condition_number(const Design& design, Index rows) {
  const auto count = static_cast<Index>(design.columns().size()) + 1;
  MatrixXd scaled(rows, count);
  scaled.col(0).setConstant(1 / std::sqrt(static_cast<double>(rows)));
  for (Index i = 1; i < count; ++i) {
    const VectorXd values = vector_of(design.columns()[places(i - 1)].values);
    scaled.col(i) = values / values.stableNorm();
  }
  const Eigen::HouseholderQR<MatrixXd> qr(scaled);
  const MatrixXd r = qr.matrixQR().topRows(count).triangularView<Eigen::Upper>();
  const VectorXd singular = Eigen::JacobiSVD<MatrixXd>(r).singularValues();
  return singular[0] / singular[count - 1];
}

/// Intercept first: values, and standard errors for a residual deviation of 1.
struct Solution {
  VectorXd values;
  VectorXd errors;
};

Solution solved(const Factors& factors, const VectorXd& centred_y, double mean_y) {
  const Index count = factors.means.size();
  const auto n = static_cast<double>(centred_y.size());
  Solution solution{.values = VectorXd(count + 1), .errors = VectorXd(count + 1)};
  solution.values[0] = mean_y;
  solution.errors[0] = std::sqrt(1 / n);
  if (count == 0) return solution;
  const VectorXd slopes = factors.qr.solve(centred_y).cwiseQuotient(factors.lengths);
  // The covariance of the scaled coefficients is V V' with V = P R^-1.
  const MatrixXd inverse = factors.qr.matrixR()
                               .topLeftCorner(count, count)
                               .triangularView<Eigen::Upper>()
                               .solve(MatrixXd::Identity(count, count));
  const MatrixXd v = factors.qr.colsPermutation() * inverse;
  const VectorXd offsets = factors.means.cwiseQuotient(factors.lengths);
  solution.values[0] = mean_y - factors.means.dot(slopes);
  solution.values.tail(count) = slopes;
  solution.errors[0] = std::sqrt(1 / n + (v.transpose() * offsets).squaredNorm());
  solution.errors.tail(count) = v.rowwise().norm().cwiseQuotient(factors.lengths);
  return solution;
}

double two_sided_p(double t, double degrees) {
  if (!std::isfinite(t)) return 0;
  return 2 * student_tail(degrees, std::abs(t));
}

std::vector<Coefficient> coefficients_of(const Design& design, const Solution& solution,
                                         const OlsFit& fit, double confidence) {
  const auto degrees = static_cast<double>(fit.degrees_of_freedom);
  const double reach = student_quantile(degrees, (1 + confidence) / 2);
  std::vector<Coefficient> coefficients;
  for (Index i = 0; i < solution.values.size(); ++i) {
    const double value = solution.values[i];
    const double error = fit.residual_deviation * solution.errors[i];
    const double t = value == 0 ? 0 : value / error;
    coefficients.push_back({.name = i == 0 ? "intercept" : design.columns()[places(i - 1)].name,
                            .value = {.value = value,
                                      .low = value - reach * error,
                                      .high = value + reach * error,
                                      .confidence = confidence,
                                      .n = fit.n},
                            .standard_error = error,
                            .t = t,
                            .p = two_sided_p(t, degrees)});
  }
  return coefficients;
}

/// R^2, adjusted R^2 and F, from the squares about the mean and those of the residuals.
void judge_whole(OlsFit& fit, double total, double left) {
  const auto columns = static_cast<double>(fit.n - fit.degrees_of_freedom - 1);
  const auto degrees = static_cast<double>(fit.degrees_of_freedom);
  fit.r_squared = total > 0 ? 1 - left / total : 0;
  fit.adjusted_r_squared = total > 0 ? 1 - (left / degrees) / (total / (columns + degrees)) : 0;
  fit.f = 0;
  fit.f_p = 1;
  if (columns == 0 || total <= 0) return;
  if (left <= 0) {
    fit.f = std::numeric_limits<double>::infinity();
    fit.f_p = 0;
    return;
  }
  fit.f = ((total - left) / columns) / (left / degrees);
  fit.f_p = f_tail(columns, degrees, std::max(fit.f, 0.0));
}

}  // namespace

OlsFit ols(const Design& design, std::span<const double> y, double confidence) {
  check(confidence > 0 && confidence < 1, "a confidence lies between 0 and 1");
  refuse_bad_data(design, y);
  const auto rows = static_cast<Index>(y.size());
  const Factors factors = factored(design, rows);
  const VectorXd response = vector_of(y);
  const double mean = mean_of(response);
  const VectorXd centred = response.array() - mean;
  const VectorXd residuals = centred - factors.basis * (factors.basis.transpose() * centred);
  const VectorXd leverage =
      factors.basis.rowwise().squaredNorm().array() + 1 / static_cast<double>(rows);

  OlsFit fit{};
  fit.n = y.size();
  fit.degrees_of_freedom = y.size() - design.columns().size() - 1;
  fit.residuals = list_of(residuals);
  fit.fitted = list_of(response - residuals);
  const double left = residuals.squaredNorm();
  fit.residual_deviation = std::sqrt(left / static_cast<double>(fit.degrees_of_freedom));
  judge_whole(fit, centred.squaredNorm(), left);
  fit.coefficients = coefficients_of(design, solved(factors, centred, mean), fit, confidence);

  const VectorXd squares = residuals.array().square();
  const VectorXd centred_squares = squares.array() - mean_of(squares);
  fit.diagnostics = diagnose({.residuals = fit.residuals,
                              .leverage = list_of(leverage),
                              .parameters = design.columns().size() + 1,
                              .condition_number = condition_number(design, rows),
                              .squares_r_squared = share_explained(factors, centred_squares)});
  return fit;
}

}  // namespace tw::stats
