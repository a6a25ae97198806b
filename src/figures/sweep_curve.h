// SPDX-License-Identifier: Apache-2.0
// The curve that `trainwire fit` has put through the points of a sweep, and how it is drawn.

#pragma once

#include "trainwire/figures/figure.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace tw::figures {

/// t = a exp(b / ((capacity - x) / unit)^n) seconds, x in Gbit/s from `from` to `to`.
struct Curve {
  double a, b, n, capacity_gbit_s, unit_gbit_s;
  double from_gbit_s, to_gbit_s;
  struct Congestion {
    double x, low, high, y;
  };
  std::optional<Congestion> congestion;
};

/// Member `key` of an object of fit.json; null when there is none, or `from` is no object.
nlohmann::ordered_json member(const nlohmann::ordered_json& from, std::string_view key);

/// One series of fit.json; nothing when it is no saturation curve.
std::optional<Curve> curve_of(const nlohmann::ordered_json& fit);

/// A value of a fitted curve, in seconds; x in base units.
struct FittedPoint {
  double x, y;
};
/// Of one series of fit.json, of any model with one x; from left to right.
std::vector<FittedPoint> fitted_of(const nlohmann::ordered_json& fit);

/// Adds the curve through these, in the colour of `series`. REQUIRES: x as the figure has it.
void add_fitted(Sheet& sheet, const std::vector<FittedPoint>& points, std::size_t series);

/// Adds the curve as a function of the script, and its congestion point, in the colour of `series`.
void add_curve(Sheet& sheet, const Curve& curve, std::size_t series);

}  // namespace tw::figures
