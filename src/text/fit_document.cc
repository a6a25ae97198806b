// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/fit_document.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace tw::text {
namespace {

using nlohmann::ordered_json;
using stats::Estimate;

ordered_json parameter(std::string_view name, const Estimate& value, const std::string& unit) {
  ordered_json document{
      {"name", name}, {"value", value.value}, {"ci_low", value.low}, {"ci_high", value.high}};
  if (!unit.empty()) document["unit"] = unit;
  return document;
}

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

template <typename T>
ordered_json value_or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json congestion_document(const stats::CongestionPoint& point,
                                 const study::FitResult& result) {
  const double unit = result.x.per_shown;
  ordered_json document{{"x", point.load.value * unit},
                        {"ci_low", point.load.low * unit},
                        {"ci_high", point.load.high * unit},
                        {"data_bytes", nullptr},
                        {"y", point.time.value},
                        {"y_ci_low", point.time.low},
                        {"y_ci_high", point.time.high},
                        {"points", point.points},
                        {"points_to", point.window_to * unit}};
  if (const auto bits = study::bits_in_area(result.x, result.y)) {
    document["data_bytes"] = point.volume.value * *bits / 8;
    document["data_ci_low_bytes"] = point.volume.low * *bits / 8;
    document["data_ci_high_bytes"] = point.volume.high * *bits / 8;
  }
  return document;
}

void describe(ordered_json& document, const study::SaturationResult& found,
              const study::FitResult& result) {
  const stats::SaturationFit& curve = found.curve;
  const double unit = result.x.per_shown;
  document["parameters"] = {parameter("A", curve.a, result.y.unit),
                            parameter("B", curve.b, power_unit(result.x, curve.n.value)),
                            parameter("n", curve.n, "")};
  document["n_is"] = curve.exponent == stats::Exponent::Fixed    ? "fixed"
                     : curve.exponent == stats::Exponent::Chosen ? "chosen"
                                                                 : "fitted";
  document["tried"] = ordered_json::array();
  for (const stats::TriedExponent& one : curve.tried) {
    document["tried"].push_back({{"n", one.n}, {"ssr", one.ssr}});
  }
  document["space"] = curve.space == stats::Space::Log ? "log" : "linear";
  document["capacity"] = curve.capacity * unit;
  document["r_squared"] = curve.r_squared;
  document["r_squared_log"] = curve.r_squared_log;
  document["residual_deviation"] = curve.residual_deviation;
  document["n"] = curve.points;
  document["valid_from"] = curve.valid_from * unit;
  document["valid_to"] = curve.valid_to * unit;
  document["congestion_point"] = nullptr;
  if (found.congestion.point) {
    document["congestion_point"] = congestion_document(*found.congestion.point, result);
  } else {
    document["congestion_none"] = stats::sentence(found.congestion.reason);
  }
  document["demand_bytes"] = value_or_null(found.demand_bytes);
  document["spare"] = nullptr;
  if (found.spare_bps) {
    document["spare"] = {{"mean_bps", found.spare_bps->value},
                         {"ci_low_bps", found.spare_bps->low},
                         {"ci_high_bps", found.spare_bps->high},
                         {"points", found.spare_bps->n}};
  }
}

void describe(ordered_json& document, const stats::AlphaBetaFit& fit, const study::FitResult&) {
  document["parameters"] = {parameter("alpha", fit.alpha_s, "s"),
                            parameter("beta", fit.beta_s_per_byte, "s/byte")};
  document["bandwidth_bps"] = nullptr;
  if (fit.bandwidth_bps) {
    document["bandwidth_bps"] = fit.bandwidth_bps->value;
    document["bandwidth_ci_low_bps"] = fit.bandwidth_bps->low;
    document["bandwidth_ci_high_bps"] = fit.bandwidth_bps->high;
  }
  document["r_squared"] = fit.r_squared;
  document["r_squared_log"] = fit.r_squared_log;
  document["residual_deviation"] = fit.residual_deviation;
  document["n"] = fit.points;
  document["valid_from"] = fit.valid_from;
  document["valid_to"] = fit.valid_to;
  document["congestion_point"] = nullptr;
}

void describe(ordered_json& document, const stats::OlsFit& fit, const study::FitResult&) {
  document["parameters"] = ordered_json::array();
  for (const stats::Coefficient& one : fit.coefficients) {
    ordered_json entry = parameter(one.name, one.value, "");
    entry["standard_error"] = one.standard_error;
    entry["t"] = one.t;
    entry["p"] = one.p;
    document["parameters"].push_back(std::move(entry));
  }
  document["r_squared"] = fit.r_squared;
  document["adjusted_r_squared"] = fit.adjusted_r_squared;
  document["f"] = fit.f;
  document["f_p"] = fit.f_p;
  document["residual_deviation"] = fit.residual_deviation;
  document["n"] = fit.n;
  document["degrees_of_freedom"] = fit.degrees_of_freedom;
  document["valid_from"] = nullptr;
  document["valid_to"] = nullptr;
  document["congestion_point"] = nullptr;
  const stats::Diagnostics& d = fit.diagnostics;
  document["diagnostics"] = {{"durbin_watson", d.durbin_watson},
                             {"jarque_bera", d.jarque_bera},
                             {"jarque_bera_p", d.jarque_bera_p},
                             {"breusch_pagan", d.breusch_pagan},
                             {"breusch_pagan_p", d.breusch_pagan_p},
                             {"condition_number", d.condition_number},
                             {"largest_leverage", d.largest_leverage},
                             {"largest_cook", d.largest_cook},
                             {"largest_cook_row", d.largest_cook_row + 1},
                             {"aic", d.aic},
                             {"bic", d.bic}};
}

void describe(ordered_json& document, const study::LinearResult& linear,
              const study::FitResult& result) {
  describe(document, linear.line, result);
  document["valid_from"] = linear.valid_from * result.x.per_shown;
  document["valid_to"] = linear.valid_to * result.x.per_shown;
}

void describe(ordered_json&, const std::monostate&, const study::FitResult&) {}

ordered_json points_document(const study::FitResult& result) {
  const auto* curve = std::get_if<study::SaturationResult>(&result.model);
  ordered_json points = ordered_json::array();
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    ordered_json point{{"x", result.points[i].x * result.x.per_shown},
                       {"y", result.points[i].y},
                       {"fitted", nullptr},
                       {"p99", value_or_null(result.points[i].p99)}};
    if (i < result.fitted.size()) point["fitted"] = result.fitted[i];
    if (curve != nullptr && i < curve->spare.size()) {
      point["ideal_bps"] = curve->spare[i].ideal.bits_per_second();
      point["available_bps"] = curve->spare[i].available.bits_per_second();
      point["spare_bps"] = curve->spare[i].spare.bits_per_second();
      point["spare_share"] = curve->spare[i].share;
    }
    points.push_back(std::move(point));
  }
  return points;
}

/// One series, added to `document`.
void describe_series(ordered_json& document, const study::FitResult& result) {
  document["x_unit"] = text_or_null(result.x.column_unit);
  document["y_unit"] = text_or_null(result.y.column_unit);
  if (const std::string equation = equation_of(result); !equation.empty()) {
    document["equation"] = equation;
    document["equation_x_unit"] = text_or_null(result.x.unit);
  }
  std::visit([&](const auto& model) { describe(document, model, result); }, result.model);
  if (result.at_x) {
    document["at"] = {{"x", *result.at_x * result.x.per_shown}};
    if (result.at) {
      document["at"].update(
          {{"value", result.at->value}, {"ci_low", result.at->low}, {"ci_high", result.at->high}});
    } else {
      document["at"]["refused"] = result.at_refused;
    }
  }
  document["points"] = points_document(result);
}

}  // namespace

ordered_json fit_document(const std::string& source, const study::FitColumns& columns,
                          const std::vector<study::FitResult>& results,
                          const std::vector<std::string>& notes) {
  ordered_json document{
      {"schema", 1},
      {"command", "fit"},
      {"source", source},
      {"model", name_of(columns.model)},
      {"x", columns.x.size() == 1 ? ordered_json(columns.x.front()) : ordered_json(columns.x)},
      {"y", columns.y},
      {"confidence", 0.95}};
  const auto first = std::find_if(results.begin(), results.end(),
                                  [](const study::FitResult& one) { return one.refused.empty(); });
  document["name"] = first->series.label;
  describe_series(document, *first);
  document["notes"] = notes;
  if (results.size() == 1) return document;
  document["series"] = ordered_json::array();
  for (const study::FitResult& result : results) {
    ordered_json one{{"name", result.series.label}, {"by", ordered_json::object()}};
    for (const auto& [column, value] : result.series.by) one["by"][column] = value;
    one["refused"] = text_or_null(result.refused);
    describe_series(one, result);
    document["series"].push_back(std::move(one));
  }
  return document;
}

std::string equation_of(const study::FitResult& result) {
  if (const auto* found = std::get_if<study::SaturationResult>(&result.model)) {
    const stats::SaturationFit& curve = found->curve;
    const std::string power =
        curve.n.value == 1 ? std::string() : fmt::format("^{:.4g}", curve.n.value);
    return fmt::format("t = {:.4g} exp({:.4g}/({:.4g} - x){})", curve.a.value, curve.b.value,
                       curve.capacity, power);
  }
  if (const auto* line = std::get_if<stats::AlphaBetaFit>(&result.model)) {
    return fmt::format("t = {:.4g} + {:.4g} bytes", line->alpha_s.value,
                       line->beta_s_per_byte.value);
  }
  if (const auto* linear = std::get_if<study::LinearResult>(&result.model)) {
    const auto& c = linear->line.coefficients;
    if (linear->shape == study::FitModel::Power) {
      return fmt::format("y = {:.6g} x^{:.6g}", std::exp(c[0].value.value), c[1].value.value);
    }
    const char* const straight = linear->shape == study::FitModel::Inverse ? "/ x"
                                 : linear->shape == study::FitModel::Log   ? "ln x"
                                                                           : "x";
    return fmt::format("y = {:.6g} {} {:.6g} {}", c[0].value.value,
                       c[1].value.value < 0 ? '-' : '+', std::abs(c[1].value.value), straight);
  }
  return {};
}

std::string power_unit(const study::FitAxis& axis, double n) {
  if (axis.unit.empty() || n == 1) return axis.unit;
  return fmt::format("({})^{:.4g}", axis.unit, n);
}

}  // namespace tw::text
