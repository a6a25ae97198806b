// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/interval.h"

#include "trainwire/fluid/tcp_laws.h"
#include "trainwire/forecast/errors.h"
#include "trainwire/forecast/range.h"

#include <algorithm>
#include <cmath>

namespace tw::forecast {
namespace {

constexpr double kNormal90 = 1.645;

/// What a step takes whose exchange overlaps backward, where the network takes `factor` times what it does: whatever is longer,
/// computing or what is left to exchange from some bucket on.
double computing_and(const StepTime& step, double factor) {
  double longest = step.compute_s;
  for (const Tail& tail : step.tails) {
    longest = std::max(longest, tail.from_s + factor * tail.exchange_s);
  }
  return longest;
}

/// A timeout is as long at any rate: beyond those that were measured errors of shallow queues do not have all of it.
double timeouts_s(const spec::Experiment& experiment, const StepTime& step) {
  const bool is_beyond = experiment.network.link.rate->bits_per_second() > kRange.measured_most_bps;
  return is_beyond ? step.overflowing * fluid::kLeastTimeout_s : 0;
}

}  // namespace

double Sources::all() const { return form + extrapolation + std::hypot(constants, noise); }

Interval interval_of(const spec::Experiment& experiment, const StepTime& step, double constants) {
  Interval made{.sources = {.constants = constants,
                            .form = errors().of(step.method, step.regime) + step.marks,
                            .noise = kNormal90 * step.noise,
                            .extrapolation = extrapolation_of(experiment)}};
  // Who exchanges nothing is not wrong about the network.
  if (step.exchange_s == 0) made.sources = {.constants = constants, .noise = made.sources.noise};
  const double scale = error_scale(step);
  const double more = std::exp(made.sources.all());
  // Nothing is faster than its compute, which itself is known to a twentieth of that; nor for its marks.
  const double less = std::exp(step.marks) / more;
  const double now_s = computing_and(step, 1);
  made.low_s = step.median_s - std::max(scale * (1 - less), now_s - computing_and(step, less));
  made.high_s = step.median_s + std::max(scale * (more - 1), computing_and(step, more) - now_s);
  made.high_s = std::max(made.high_s, step.median_s + timeouts_s(experiment, step));
  return made;
}

}  // namespace tw::forecast
