// SPDX-License-Identifier: Apache-2.0
// What `predict` found, as one JSON document (docs/predict.md has its fields) and as CSV.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/forecast/advise.h"
#include "trainwire/forecast/forecast.h"
#include "trainwire/forecast/need.h"
#include "trainwire/forecast/scale.h"
#include "trainwire/forecast/what_if.h"
#include "trainwire/like/like.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tw::guide {

/// All that was asked for.
struct Predicted {
  std::string name = {};    ///< of the experiment
  std::string source = {};  ///< file or folder with --set and --like, for what to do next
  bool may_scale = false;   ///< it may have other numbers of ranks
  BitRate rate = {};        ///< of a link
  std::optional<like::Fitted> like = {};  ///< the run that it is to be like
  std::string beyond = {};                ///< what is beyond the range, where it was forced
  std::vector<forecast::JobForecast> jobs = {};
  std::vector<forecast::WhatIf> what_ifs = {};
  std::optional<forecast::Scaling> scaling = {};
  std::optional<forecast::Need> need = {};
  std::optional<forecast::Advice> advice = {};
};

nlohmann::ordered_json predict_document(const Predicted& predicted);

/// The rows of what-ifs, or of a scaling curve, with a header.
std::string predict_csv(const Predicted& predicted);

}  // namespace tw::guide
