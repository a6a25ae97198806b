// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/fit_ols_text.h"

#include "trainwire/base/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::text {
namespace {

constexpr std::size_t kMostCoefficients = 18;
constexpr double kSignificant = 0.05;

/// Reasons to doubt a regression, in words; none when there are none.
std::vector<std::string> doubts(const stats::OlsFit& fit) {
  const stats::Diagnostics& d = fit.diagnostics;
  std::vector<std::string> lines;
  if (d.breusch_pagan_p < kSignificant) {
    lines.push_back(fmt::format(
        "  the spread depends on the columns (Breusch-Pagan p {:.2g}): intervals are too sure",
        d.breusch_pagan_p));
  }
  if (d.jarque_bera_p < kSignificant) {
    lines.push_back(
        fmt::format("  residuals are not normal (Jarque-Bera p {:.2g})", d.jarque_bera_p));
  }
  if (d.condition_number > 30) {
    lines.push_back(
        fmt::format("  columns resemble one another (condition number {:.3g}): coefficients are "
                    "hard to tell apart",
                    d.condition_number));
  }
  if (d.largest_cook > 1) {
    lines.push_back(fmt::format("  row {} alone moves the fit (Cook's distance {:.3g})",
                                d.largest_cook_row + 1, d.largest_cook));
  }
  return lines;
}

}  // namespace

std::vector<std::string> ols_text(const stats::OlsFit& fit) {
  std::vector<std::string> lines;
  std::size_t width = 9;
  for (const stats::Coefficient& one : fit.coefficients) {
    width = std::max(width, width_of(printable(one.name)));
  }
  width = std::min<std::size_t>(width, 40);
  lines.push_back(fmt::format("  {:<{}} {:>12} {:>27} {:>11} {:>8} {:>9}", "", width, "value",
                              "95 % interval", "std. error", "t", "p"));
  for (std::size_t i = 0; i < std::min(fit.coefficients.size(), kMostCoefficients); ++i) {
    const stats::Coefficient& one = fit.coefficients[i];
    const std::string name = cut(printable(one.name), width);
    lines.push_back(fmt::format("  {}{} {:>12.5g} {:>27} {:>11.4g} {:>8.3g} {:>9.3g}", name,
                                std::string(width - width_of(name), ' '), one.value.value,
                                fmt::format("{:.4g} .. {:.4g}", one.value.low, one.value.high),
                                one.standard_error, one.t, one.p));
  }
  if (fit.coefficients.size() > kMostCoefficients) {
    lines.push_back(fmt::format("  ... and {} more", fit.coefficients.size() - kMostCoefficients));
  }
  lines.push_back(
      fmt::format("  R² {:.4f}, adjusted {:.4f}; F {:.4g}, p {:.3g}; residual deviation "
                  "{:.4g}; {} rows, {} degrees of freedom",
                  fit.r_squared, fit.adjusted_r_squared, fit.f, fit.f_p, fit.residual_deviation,
                  fit.n, fit.degrees_of_freedom));
  lines.push_back(significance(fit));
  for (std::string& line : doubts(fit)) lines.push_back(std::move(line));
  return lines;
}

std::string significance(const stats::OlsFit& fit) {
  std::string yes;
  std::string no;
  for (const stats::Coefficient& one : fit.coefficients) {
    if (one.name == "intercept") continue;
    std::string& list = one.p < kSignificant ? yes : no;
    list += (list.empty() ? "" : ", ") + printable(one.name);
  }
  return fmt::format("significant at 5 %: {}; not: {}", yes.empty() ? "none" : cut(yes, 60),
                     no.empty() ? "none" : cut(no, 60));
}

}  // namespace tw::text
