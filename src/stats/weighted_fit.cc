// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/weighted_fit.h"

#include "trainwire/base/error.h"
#include "trainwire/stats/distributions.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tw::stats {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using Index = Eigen::Index;

std::vector<double> copied(const Matrix& matrix) {
  return {matrix.data(), matrix.data() + matrix.size()};
}

}  // namespace

std::optional<WeightedFit> weighted_fit(std::span<const std::vector<double>> columns,
                                        std::span<const double> y,
                                        std::span<const double> weights) {
  check(!columns.empty() && y.size() == weights.size(), "each observation has a weight");
  const auto rows = static_cast<Index>(y.size());
  const auto count = static_cast<Index>(columns.size());
  const Vector root = Eigen::Map<const Vector>(weights.data(), rows).cwiseSqrt();
  Matrix design(rows, count);
  for (Index j = 0; j < count; ++j) {
    const std::vector<double>& column = columns[static_cast<std::size_t>(j)];
    check(column.size() == y.size(), "each column has a value for each observation");
    design.col(j) = root.cwiseProduct(Eigen::Map<const Vector>(column.data(), rows));
  }
  // Columns of very different size are no reason to call them dependent.
  const Vector size = design.colwise().norm();
  if (size.minCoeff() <= 0 || !size.allFinite()) return {};
  design = design * size.cwiseInverse().asDiagonal();
  const Eigen::ColPivHouseholderQR<Matrix> qr(design);
  if (qr.rank() < count) return {};
  const Vector observed = root.cwiseProduct(Eigen::Map<const Vector>(y.data(), rows));
  const Vector scaled = qr.solve(observed);
  const Matrix inverse = (design.transpose() * design).ldlt().solve(Matrix::Identity(count, count));
  const Matrix unscale = size.cwiseInverse().asDiagonal();
  return WeightedFit{.parameters = copied(unscale * scaled),
                     .covariance = copied(unscale * inverse * unscale),
                     .ssr = (observed - design * scaled).squaredNorm()};
}

double t_factor(double confidence, double degrees_of_freedom) {
  check(confidence > 0 && confidence < 1, "a confidence lies between 0 and 1");
  return student_upper_quantile(degrees_of_freedom, (1 - confidence) / 2);
}

double r_squared(std::span<const double> y, std::span<const double> fitted) {
  check(y.size() == fitted.size() && !y.empty(), "each observation has a fitted value");
  const double mean = std::accumulate(y.begin(), y.end(), 0.0) / static_cast<double>(y.size());
  double total = 0;
  double left = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    total += (y[i] - mean) * (y[i] - mean);
    left += (y[i] - fitted[i]) * (y[i] - fitted[i]);
  }
  check(total > 0, "values that are all equal leave nothing to explain");
  return 1 - left / total;
}

}  // namespace tw::stats
