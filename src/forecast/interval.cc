// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/interval.h"

#include "trainwire/forecast/errors.h"
#include "trainwire/forecast/range.h"

#include <algorithm>
#include <cmath>

namespace tw::forecast {
namespace {

constexpr double kNormal90 = 1.645;

}  // namespace

double Sources::all() const { return form + extrapolation + std::hypot(constants, noise); }

Interval interval_of(const spec::Experiment& experiment, const StepTime& step, double constants) {
  Interval made{.sources = {.constants = constants,
                            .form = errors().of(step.method, step.regime),
                            .noise = kNormal90 * step.noise,
                            .extrapolation = extrapolation_of(experiment)}};
  const double scale = error_scale(step);
  const double width = made.sources.all();
  // Nothing is faster than its compute, which itself is known to a twentieth of that.
  made.low_s = step.median_s - scale * (1 - std::exp(-width));
  made.high_s = step.median_s + scale * (std::exp(width) - 1);
  return made;
}

}  // namespace tw::forecast
