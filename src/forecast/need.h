// SPDX-License-Identifier: Apache-2.0
// What it would take: the least bandwidth with which a job reaches a goal, and at its present bandwidth, or that one, the longest
// delay and the most loss with which it still does.
//
// Every link has that bandwidth at least: those that are slower are raised to it, and those that are faster stay as many times faster
// as they are. Delay and loss are those of links that have none of their own.
//
// Limits: a search by halves, to 0.5 % (loss, which is chance, to 10 %, and what some seconds find: it may bear more), with steps that become shorter with more bandwidth and longer
// with delay and loss. The interval of a need is where the step's interval reaches the goal.

#pragma once

#include "trainwire/forecast/changes.h"
#include "trainwire/forecast/step.h"
#include "trainwire/spec/experiment.h"

#include <optional>
#include <string>
#include <string_view>

namespace tw::forecast {

/// "efficiency=0.9" or "step=100ms".
struct Goal {
  std::optional<double> efficiency = {};  ///< of a rank that computes alone
  std::optional<double> step_s = {};
};
/// Throws SpecError for anything else.
Goal parse_goal(std::string_view text);

/// Nothing where no value reaches the goal, or every value does; so each end of the interval.
struct Bound {
  std::optional<double> value = {};
  std::optional<double> low =
      {};  ///< of the interval of values: where the step's interval begins to reach it, or ceases to
  std::optional<double> high = {};
  bool is_none = false;  ///< not even the least will do
};

struct Need {
  Goal goal = {};
  double step_s = 0;        ///< what the goal is as a step
  bool is_met = false;      ///< as things are
  std::string job = {};     ///< of several, whose step it is
  bool differ = false;      ///< links have different rates now
  bool is_possible = true;  ///< with any bandwidth
  Bound rate_bps = {};      ///< at least
  Bound delay_s =
      {};  ///< one way a link, at most; at the larger of the needed and the present bandwidth
  Bound loss = {};                  ///< likewise; packet by packet where these are few
  Method method = Method::Formula;  ///< by which the rate was found
  std::optional<double> packets_s =
      {};                    ///< a step at the larger of both rates, where packets are few
  std::string problem = {};  ///< why it is not possible
};

/// Of the first job. Throws SpecError without compute time where the goal is an efficiency.
Need need_of(const spec::Experiment& experiment, const Goal& goal, const Asking& asking = {},
             double constants = 0);

}  // namespace tw::forecast
