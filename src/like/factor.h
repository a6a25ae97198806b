// SPDX-License-Identifier: Apache-2.0
// How far the model is off: the fitted experiment simulated flow by flow, beside what was measured.

#pragma once

#include "trainwire/like/like.h"

namespace tw::like {

/// What was measured of a job.
struct MeasuredStep {
  double median_s = 0;
  double low_s = 0;
  double high_s = 0;
  double noise = 0;  ///< relative standard deviation
};

/// From a record's times; `divisor` is its run.slow_motion. REQUIRES: there are times.
MeasuredStep measured_step(const record::Times& times, double divisor = 1);

/// Simulates `fitted.experiment` and sets `fitted.jobs`, with a constant for each. Throws SpecError
/// where it cannot be simulated. REQUIRES: one measured step for each job.
void fit_factors(Fitted& fitted, const std::vector<MeasuredStep>& measured);

}  // namespace tw::like
