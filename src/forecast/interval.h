// SPDX-License-Identifier: Apache-2.0
// 90 % intervals of predicted steps, their sources kept apart.
//
//   constants      what was fitted (compute, rates) is known only so well; 0 where the file gives it
//   form           the model is not the network: errors.h, by regime, and marks that it does not know
//   noise          the same job takes other times with other luck: what seeds differ by
//   extrapolation  nobody measured that many hosts, or rates like that: range.h
//
// Each is a part of what the network takes of a step, as a logarithm; the interval has their sum (form and
// extrapolation), with the root of the sum of squares of the others. Where the exchange overlaps backward that is all of the
// exchange that computing does not wait out: from the bucket on that makes the step longest. Where queues may overflow at
// rates that were not measured, a timeout in each exchange is in it too.

#pragma once

#include "trainwire/forecast/step.h"
#include "trainwire/spec/experiment.h"

namespace tw::forecast {

struct Sources {
  double constants = 0;
  double form = 0;
  double noise = 0;
  double extrapolation = 0;
  double all() const;
};

struct Interval {
  double low_s = 0;
  double high_s = 0;
  Sources sources = {};
};

/// `constants` as above.
Interval interval_of(const spec::Experiment& experiment, const StepTime& step,
                     double constants = 0);

}  // namespace tw::forecast
