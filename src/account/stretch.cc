// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/stretch.h"

#include <algorithm>
#include <cmath>

namespace tw::account {
namespace {

constexpr double kUsuallyOff = 0.1;      ///< transfer and delay
constexpr double kUncertainOff = 0.6;    ///< loss, cross traffic, other jobs
constexpr double kDroppedOff = 0.5;      ///< of the step, where packets were dropped
constexpr double kMostStretch = 0.25;    ///< of transfer and delay
constexpr double kMostUncertain = 3;     ///< of the uncertain
constexpr double kUncertainError = 0.3;  ///< of the uncertain, where nothing was stretched
constexpr double kMostUncertainError = 0.5;
/// Measured computing is believed when it is that near to the simulated, of the step.
constexpr double kMostComputeOff = 0.3;

double square(double x) { return x * x; }

double timers_of(const Chain& chain, const Measured& measured) {
  const double late_s = chain.part("late_rank");
  const double simulated_s = chain.part("compute");
  const bool is_near =
      measured.compute_s &&
      std::abs(*measured.compute_s - simulated_s) <= kMostComputeOff * measured.step_s &&
      *measured.compute_s + late_s <= measured.step_s;
  return late_s + (is_near ? std::max(*measured.compute_s, simulated_s) : simulated_s);
}

/// How much more the uncertain parts take.
double uncertain_share(const Chain& chain, const Measured& measured, double certain_s,
                       double off_s) {
  const double uncertain_s = chain.uncertain_s();
  const bool dropped = !measured.dropped_by.empty();
  double dropped_s = dropped ? kDroppedOff * measured.step_s : 0.0;
  double most_s = dropped ? std::abs(off_s) : kMostUncertain * uncertain_s;
  if (dropped && measured.dropped_most_s) {
    // What other jobs and cross traffic cost is as uncertain as ever.
    const double part_s = chain.part(measured.dropped_by);
    const double left_s = *measured.dropped_most_s - part_s;
    if (uncertain_s > part_s) dropped_s = std::min(dropped_s, std::max(0.0, left_s));
    most_s = std::min(most_s, left_s + kMostUncertain * (uncertain_s - part_s));
  }
  const double spread_s = std::max(kUncertainOff * uncertain_s, dropped_s);
  const double weight = square(spread_s) + square(kUsuallyOff * certain_s);
  const double share_s = weight > 0 ? off_s * square(spread_s) / weight : 0;
  return std::clamp(share_s, -uncertain_s, most_s);
}

}  // namespace

double Stretch::of(const std::string& part, double simulated_s) const {
  return (is_uncertain(part) ? uncertain_factor : factor) * simulated_s;
}

double Stretch::error_of(const std::string& part) const {
  return is_uncertain(part) ? uncertain_error : error;
}

Stretch stretch_of(const Chain& chain, const Measured& measured) {
  Stretch made{.simulated_timers_s = chain.part("compute") + chain.part("late_rank"),
               .timers_s = timers_of(chain, measured)};
  const double uncertain_s = chain.uncertain_s();
  const double certain_s = chain.step_s - made.simulated_timers_s - uncertain_s;
  made.off_s = measured.step_s - made.timers_s - certain_s - uncertain_s;
  const double more_s = uncertain_share(chain, measured, certain_s, made.off_s);
  if (uncertain_s > 0) {
    made.uncertain_factor = 1 + more_s / uncertain_s;
  } else if (more_s > 0) {
    made.added_to = measured.dropped_by;
    made.added_s = more_s;
  }
  const double left_s = made.off_s - (uncertain_s > 0 || more_s > 0 ? more_s : 0);
  const double stretch_s = std::clamp(left_s, -kMostStretch * certain_s, kMostStretch * certain_s);
  if (certain_s > 0) made.factor = 1 + stretch_s / certain_s;
  made.unexplained_s = left_s - stretch_s;
  made.error = kUsuallyOff + std::abs(made.factor - 1) / 2;
  const double stretched = std::abs(made.uncertain_factor - 1);
  made.uncertain_error = std::min(
      kMostUncertainError, kUncertainError + stretched / 2 / std::max(1.0, made.uncertain_factor));
  // What packets said of drops was no guess.
  const bool is_told = measured.dropped_most_s && uncertain_s <= chain.part(measured.dropped_by);
  if (is_told) made.uncertain_error = kUncertainError;
  return made;
}

}  // namespace tw::account
