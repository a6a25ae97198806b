// SPDX-License-Identifier: Apache-2.0
// Steps put in order, and steps told by one time stamp each: from one stamp to the next.

#pragma once

#include "trainwire/imports/step_log.h"

#include <cstdint>
#include <vector>

namespace tw::imports {

/// The end of a step, or of an epoch.
struct Stamp {
  int rank;
  std::int64_t step;
  std::int64_t time_ns;  ///< not negative
  bool ends_epoch = false;
};

/// A step lasts from the stamp before to its own; the end of an epoch is such a stamp too, so what
/// lies between the last step and it (an evaluation) is no part of a step. Stamps that repeat a
/// step move its end. When only every k-th step was stamped (k up to 1,000), the time between two
/// stamps is divided evenly among k steps. A rank's first step has no start: it is taken to be as
/// long as the median of its others, and a rank with one stamp only is left out. Numbers that start
/// again (a new epoch) are counted on.
std::vector<LoggedStep> steps_between(std::vector<Stamp> stamps);

/// By rank and time, repeated rows once, with step numbers that start again counted on.
std::vector<LoggedStep> in_order(std::vector<LoggedStep> steps);

/// Rows of the same rank and step made one, from the first start to the last end.
std::vector<LoggedStep> phases_joined(std::vector<LoggedStep> rows);

}  // namespace tw::imports
