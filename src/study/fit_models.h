// SPDX-License-Identifier: Apache-2.0
// One series through one model of stats: what comes out, in shown units (fit_series.h), for text
// and document alike.

#pragma once

#include "trainwire/stats/alpha_beta.h"
#include "trainwire/stats/congestion.h"
#include "trainwire/stats/ols.h"
#include "trainwire/stats/saturation.h"
#include "trainwire/stats/spare.h"
#include "trainwire/study/fit_series.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tw::study {

struct FitSettings {
  stats::Exponent exponent = stats::Exponent::Chosen;
  double n = 1;  ///< when it is Fixed
  stats::Space space = stats::Space::Log;
  std::string capacity = {};  ///< as typed: "25Gbit", or a number in the unit of x; "" for none
  std::string at = {};        ///< where to read the curve, the same way; "" for nowhere
  std::optional<double> demand_bytes = {};  ///< of a step; a sweep knows its own
};

/// What to fit. REQUIRES: the table lives as long.
struct FitRequest {
  const FitTable& table;
  FitColumns columns;
  FitSettings settings;
};

struct SaturationResult {
  stats::SaturationFit curve;
  stats::CongestionSearch congestion;
  std::optional<double> demand_bytes = {};        ///< by theory, of a step
  std::vector<stats::SparePoint> spare = {};      ///< as the points; empty without demand or units
  std::optional<stats::Estimate> spare_bps = {};  ///< mean past the congestion point
};

/// A line, or a curve that is one once x (and for a power y) are taken as the model says.
struct LinearResult {
  FitModel shape;
  stats::OlsFit line;  ///< of what is straight
  double valid_from;
  double valid_to;
  double mean_x;  ///< of what is straight
};

/// A series and what it gave.
struct FitResult {
  FitSeries series;
  FitAxis x;
  FitAxis y;
  std::vector<FitPoint> points = {};  ///< none for ols
  std::vector<double> fitted = {};    ///< as the points
  std::variant<std::monostate, SaturationResult, stats::AlphaBetaFit, LinearResult, stats::OlsFit>
      model = {};
  std::string refused = {};  ///< why there is no model; "" when there is one
  std::optional<double> at_x = {};
  std::optional<stats::Estimate> at = {};
  std::string at_refused = {};
};

/// A series that cannot be fitted is a value here (`refused`). Throws SpecError for settings that
/// do not suit the model. Notes tell what was assumed.
FitResult fit_series(const FitRequest& request, const FitSeries& series,
                     std::vector<std::string>& notes);

/// Bits in a unit of x times a unit of y; nothing unless x is a rate. y without a unit is taken in
/// seconds.
std::optional<double> bits_in_area(const FitAxis& x, const FitAxis& y);

}  // namespace tw::study
