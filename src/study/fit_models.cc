// SPDX-License-Identifier: Apache-2.0
#include "trainwire/study/fit_models.h"

#include "trainwire/base/error.h"
#include "trainwire/stats/weighted_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tw::study {
namespace {

using stats::Estimate;

bool is_rate(const FitAxis& axis) { return axis.unit.ends_with("bit/s"); }

std::vector<double> column_of(const std::vector<FitPoint>& points, double FitPoint::*member) {
  std::vector<double> values;
  for (const FitPoint& point : points) values.push_back(point.*member);
  return values;
}

/// The unit in which a rate was written: 1e9 and "Gbit/s" for "25Gbit".
std::optional<std::pair<double, std::string>> unit_of(const std::string& text) {
  const auto rate = parse_rate(text);
  const std::size_t digits = std::min(text.find_first_not_of("0123456789.eE+- "), text.size());
  const auto number = number_in(std::string_view(text).substr(0, digits));
  if (!rate || !number || *number <= 0) return {};
  const double factor = rate->bits_per_second() / *number;
  for (const auto& [size, name] :
       {std::pair(1e9, "Gbit/s"), std::pair(1e6, "Mbit/s"), std::pair(1e3, "kbit/s")}) {
    if (std::abs(factor / size - 1) < 1e-9) return std::pair(size, std::string(name));
  }
  return std::pair(1.0, std::string("bit/s"));
}

/// A plain number is in the unit of x; a rate says its own. An x whose name tells no unit takes
/// that of the capacity.
double in_units_of(FitAxis& x, const std::string& text, std::string_view option,
                   std::vector<std::string>& notes) {
  if (const auto number = number_in(text)) return *number;
  const auto rate = parse_rate(text);
  const auto unit = unit_of(text);
  if (!rate || !unit || (!x.unit.empty() && !is_rate(x))) {
    throw SpecError(fmt::format("{}: \"{}\" is no {}; write {}", option, text,
                                x.unit.empty() || is_rate(x) ? "number or rate" : "number",
                                x.unit.empty() || is_rate(x) ? "25 or 25Gbit" : "it as x is"));
  }
  if (x.unit.empty()) {
    x.unit = x.column_unit = unit->second;
    x.base = unit->first;
    const std::string told =
        fmt::format("{} is taken in {}, the unit of {}", x.column, x.unit, option);
    if (std::find(notes.begin(), notes.end(), told) == notes.end()) notes.push_back(told);
  }
  return rate->bits_per_second() / *x.base;
}

double capacity_of(FitResult& result, const FitTable& table, const FitSettings& settings,
                   std::vector<std::string>& notes) {
  double capacity = 0;
  if (!settings.capacity.empty()) {
    capacity = in_units_of(result.x, settings.capacity, "--capacity", notes);
  } else if (const auto found = scaled_most(table, result.series, "capacity_bps");
             found && is_rate(result.x)) {
    capacity = *found / *result.x.base;
  } else {
    throw SpecError(
        "--capacity: the curve has its asymptote there; give the link's rate, such as 25Gbit");
  }
  if (capacity <= 0) throw SpecError("--capacity: a link has a rate above 0");
  return capacity;
}

/// Ideal and available bandwidth need a demand, and x as a rate.
void add_spare(SaturationResult& result, const FitResult& series) {
  const auto bits = bits_in_area(series.x, series.y);
  if (!bits || !result.demand_bytes) return;
  const double rate_unit = *series.x.base;
  std::vector<stats::LoadedStep> steps;
  for (const FitPoint& point : series.points) {
    steps.push_back({.load = BitRate(point.x * rate_unit), .step_s = point.y * *bits / rate_unit});
  }
  result.spare =
      stats::spare_points(steps, {.demand = Bytes(std::llround(*result.demand_bytes)),
                                  .capacity = BitRate(result.curve.capacity * rate_unit)});
  // Where times rise from the first load on, every load is past the point.
  const stats::CongestionSearch& search = result.congestion;
  if (!search.point && search.reason != stats::NoPoint::Straight) return;
  const double from = search.point ? search.point->load.value : 0;
  result.spare_bps = stats::mean_spare_bps(result.spare, BitRate(from * rate_unit));
}

void fit_curve(FitResult& result, const FitTable& table, const FitSettings& settings,
               std::vector<std::string>& notes) {
  const double capacity = capacity_of(result, table, settings, notes);
  const std::vector<double> loads = column_of(result.points, &FitPoint::x);
  const std::vector<double> times = column_of(result.points, &FitPoint::y);
  SaturationResult found{
      .curve = stats::fit_saturation(loads, times,
                                     {.capacity = capacity,
                                      .exponent = settings.exponent,
                                      .fixed = settings.n,
                                      .space = settings.space}),
      .congestion = stats::find_congestion(loads, times, {.capacity = capacity})};
  found.demand_bytes = settings.demand_bytes ? settings.demand_bytes
                                             : scaled_most(table, result.series, "demand_bytes");
  add_spare(found, result);
  for (const double x : loads) {
    result.fitted.push_back(
        found.curve.a.value *
        std::exp(found.curve.b.value / std::pow(capacity - x, found.curve.n.value)));
  }
  result.model = std::move(found);
}

void fit_alpha_beta(FitResult& result) {
  const stats::AlphaBetaFit fit = stats::fit_alpha_beta(column_of(result.points, &FitPoint::x),
                                                        column_of(result.points, &FitPoint::y));
  for (const FitPoint& point : result.points) {
    result.fitted.push_back(fit.alpha_s.value + fit.beta_s_per_byte.value * point.x);
  }
  result.model = fit;
}

/// What y is straight in. Throws DataError where that is not defined.
double straight_x(FitModel shape, double x) {
  if (shape == FitModel::Linear) return x;
  if (x <= 0) throw DataError(fmt::format("x is {:.6g}: this model needs values above 0", x));
  return shape == FitModel::Inverse ? 1 / x : std::log(x);
}

double straight_y(FitModel shape, double y) {
  if (shape != FitModel::Power) return y;
  if (y <= 0) throw DataError(fmt::format("y is {:.6g}: a power needs values above 0", y));
  return std::log(y);
}

double bent_y(FitModel shape, double y) { return shape == FitModel::Power ? std::exp(y) : y; }

std::string straight_name(FitModel shape, const std::string& column) {
  if (shape == FitModel::Linear) return column;
  return shape == FitModel::Inverse ? "1/" + column : "ln " + column;
}

void fit_line(FitResult& result, FitModel shape) {
  std::vector<double> x, y;
  for (const FitPoint& point : result.points) {
    x.push_back(straight_x(shape, point.x));
    y.push_back(straight_y(shape, point.y));
  }
  stats::Design design;
  design.add(straight_name(shape, result.x.column), x);
  LinearResult found{.shape = shape,
                     .line = stats::ols(design, y),
                     .valid_from = result.points.front().x,
                     .valid_to = result.points.back().x,
                     .mean_x = 0};
  for (const double one : x) found.mean_x += one / static_cast<double>(x.size());
  for (const double one : found.line.fitted) result.fitted.push_back(bent_y(shape, one));
  result.model = std::move(found);
}

std::vector<double> numbers_of(const FitTable& table, const FitSeries& series,
                               const std::string& column) {
  std::vector<double> values;
  for (const std::size_t row : series.rows) {
    values.push_back(number_at(table, row, column));
  }
  return values;
}

void fit_ols(FitResult& result, const FitTable& table, const FitColumns& columns) {
  stats::Design design;
  for (const std::string& name : columns.x) {
    const bool is_factor =
        std::find(columns.factors.begin(), columns.factors.end(), name) != columns.factors.end();
    if (!is_factor) {
      design.add(name, numbers_of(table, result.series, name));
      continue;
    }
    std::vector<std::string> levels;
    for (const std::size_t row : result.series.rows) {
      levels.push_back(table.rows[row][*table.find(name)]);
    }
    design.add_factor(name, levels);
  }
  result.model = stats::ols(design, numbers_of(table, result.series, columns.y));
}

/// The line at x with the interval of its mean: s^2 (1/n + (x - mean)^2 / Sxx), where Sxx is s over
/// the slope's standard error, squared.
Estimate evaluate_line(const LinearResult& linear, double x) {
  if (!(x >= linear.valid_from && x <= linear.valid_to)) {
    throw DataError(fmt::format("reading the line at {:.6g}: it holds from {:.6g} to {:.6g}", x,
                                linear.valid_from, linear.valid_to));
  }
  const stats::OlsFit& line = linear.line;
  const double at = straight_x(linear.shape, x);
  const double value = line.coefficients[0].value.value + line.coefficients[1].value.value * at;
  const double level = line.residual_deviation / std::sqrt(static_cast<double>(line.n));
  const double error =
      std::hypot(level, (at - linear.mean_x) * line.coefficients[1].standard_error);
  const double half = stats::t_factor(0.95, static_cast<double>(line.degrees_of_freedom)) * error;
  return {.value = bent_y(linear.shape, value),
          .low = bent_y(linear.shape, value - half),
          .high = bent_y(linear.shape, value + half),
          .confidence = 0.95,
          .n = line.n};
}

void evaluate(FitResult& result, const FitSettings& settings, std::vector<std::string>& notes) {
  if (settings.at.empty()) return;
  if (std::holds_alternative<stats::OlsFit>(result.model)) {
    throw SpecError("--at: only for models of one x");
  }
  result.at_x = in_units_of(result.x, settings.at, "--at", notes);
  try {
    if (const auto* curve = std::get_if<SaturationResult>(&result.model)) {
      result.at = stats::evaluate(curve->curve, *result.at_x);
    } else if (const auto* line = std::get_if<stats::AlphaBetaFit>(&result.model)) {
      result.at = stats::evaluate(*line, *result.at_x);
    } else if (const auto* linear = std::get_if<LinearResult>(&result.model)) {
      result.at = evaluate_line(*linear, *result.at_x);
    }
  } catch (const DataError& error) {
    result.at_refused = error.what();
  }
}

}  // namespace

std::optional<double> bits_in_area(const FitAxis& x, const FitAxis& y) {
  if (!is_rate(x)) return {};
  return *x.base * y.base.value_or(1);
}

FitResult fit_series(const FitRequest& request, const FitSeries& series,
                     std::vector<std::string>& notes) {
  const auto& [table, columns, settings] = request;
  FitResult result{
      .series = series, .x = axis_of(table, columns.x.front()), .y = axis_of(table, columns.y)};
  try {
    if (columns.model == FitModel::Ols) {
      fit_ols(result, table, columns);
    } else {
      result.points = points_of_series(table, columns, series);
    }
    if (columns.model == FitModel::Saturation) fit_curve(result, table, settings, notes);
    if (columns.model == FitModel::AlphaBeta) fit_alpha_beta(result);
    if (columns.model >= FitModel::Linear) fit_line(result, columns.model);
  } catch (const DataError& error) {
    result.refused = error.what();
    return result;
  }
  evaluate(result, settings, notes);
  return result;
}

}  // namespace tw::study
