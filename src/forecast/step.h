// SPDX-License-Identifier: Apache-2.0
// What a step of a job will take: by formula where that holds (formula.h), else by simulation.
//
// A simulation has few steps: they repeat unless chance has a part in them (loss, cross traffic,
// jitter, drawn peers); then several seeds are simulated, and what they differ by is told.
//
// Limits: those of formula.h, or of sim/simulate.h. Beyond what was ever measured (range.h) an answer is
// an extrapolation.

#pragma once

#include "trainwire/forecast/regime.h"
#include "trainwire/sim/level.h"
#include "trainwire/spec/experiment.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::forecast {

enum class Method { Formula, Flow, Packet };
/// "formula", "flow simulation", "packet simulation".
std::string_view name_of(Method method);

/// What is asked for.
struct Asking {
  std::optional<sim::Level> level = {};  ///< nothing: the formula where it holds, else flow
  bool only_formula = false;             ///< no answer where it does not hold
  int seeds = 5;                         ///< where chance has a part
  int most_steps = 12;                   ///< of a simulation that is not of all steps
  bool anywhere = false;                 ///< what-ifs are answered beyond the range too (range.h)
  /// What a packet simulation may have on links, where it is nearer than flows (packets.h) and no level is asked for; where all
  /// steps of the experiment have no more, all are simulated.
  double most_packets = 0;
  /// The method of what it is compared with: packets wherever they are few, or nowhere. Nothing: as it comes.
  std::optional<Method> alike = {};
  /// What is known of a job from a run of it: from a median step, and what it takes alone, to what is to be expected.
  std::function<double(std::size_t job, double step_s, double alone_s)> adjusted = {};
};

/// Of a step whose exchange overlaps backward: from when a bucket is full, and what that and all after it take by the formula.
struct Tail {
  double from_s = 0;  ///< after the step's begin
  double exchange_s = 0;
};

struct StepTime {
  double median_s = 0;
  double compute_s = 0;   ///< of a rank that is not late
  double alone_s = 0;     ///< a step without any network
  double exchange_s = 0;  ///< median; what of it overlaps compute included
  Method method = Method::Formula;
  std::string because = {};  ///< why it is no formula; empty where it is one
  /// What seeds differ by: the standard deviation of the logarithms of their medians; 0 with one seed.
  double noise = 0;
  int seeds = 1;
  /// Of a simulation by flows, which knows no marks: how many times more a path holds than waits where packets are marked, as a
  /// logarithm. What that costs was up to as many times what the network takes, packet by packet.
  double marks = 0;
  std::vector<Tail> tails = {};
  /// Of a formula or of flows: exchanges of a step in which queues may overflow, so that each may wait for a timeout.
  int overflowing = 0;
  Regime regime = Regime::Bandwidth;
};

/// One for each job. Throws SpecError for what cannot be simulated. REQUIRES: the experiment is
/// resolved; its scale is 1.
std::vector<StepTime> step_times(const spec::Experiment& experiment, const Asking& asking = {});

/// Why the formula does not answer for the experiment; empty: it does.
std::string no_formula(const spec::Experiment& experiment);

/// Whether links' delays vary.
bool varies(const spec::Network& network);

/// Whether the same experiment may take another time with another seed.
bool has_chance(const spec::Experiment& experiment);

}  // namespace tw::forecast
