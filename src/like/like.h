// SPDX-License-Identifier: Apache-2.0
// From what a run has found to an experiment that behaves like it, to be changed and simulated.
//
// A record of `run` or `sim` holds the experiment that was asked for. What was measured is put in
// where it contradicts what was asked: what ranks really computed (the optimiser, which
// simulations do not have, included), how that varied, a host that computed longer. A record of
// `exec` knows its network, and its packets show the job; one of `analyze` shows both, as far as
// packets can.
//
// The fitted experiment is simulated, and what the measured step has more or less than that is kept
// as one factor for each job. It multiplies the exchange, never the computing. Of what the model is
// off in one run, part is off at other rates and delays too: two thirds flow by flow, a quarter
// packet by packet, by the logarithm, as 63 changes of 12 runs have shown. So an unchanged experiment
// takes what was measured, and the more its exchange changes, the more of the factor goes.
//
//   fitted = fit(run, folder);
//   changed = fitted.experiment with another rate;
//   step = steps_s(fitted, changed)[0];
//
// or, for those who simulate `changed` themselves, at fitted.level:
//
//   step = step_s(fitted.jobs[0], {simulated step of `changed`, compute_s(changed, 0)});
//
// Limits: one straggling host; ranks' jitter is one figure for all; computing is what it was, and no
// longer follows batch, model or device. The factor is of the regime that was measured: a change that
// makes another thing the limit (loss instead of bandwidth) has another.
//
// How it was checked: bench/like, which foretells runs from one run each.

#pragma once

#include "trainwire/record/run.h"
#include "trainwire/sim/level.h"
#include "trainwire/spec/experiment.h"

#include <cstddef>
#include <string>
#include <vector>

namespace tw::like {

/// Something that was measured, with its interval of 95 %.
struct Constant {
  std::string name = {};  ///< "compute of job0", "rate of host1 to_host"
  double value = 0;
  double low = 0;
  double high = 0;
  std::string unit = {};  ///< "s", "bit/s", "bytes", or "" of a share or factor
  std::string from = {};  ///< "forward and backward of 4 ranks, 20 steps"
  bool operator==(const Constant&) const = default;
};

/// Of one job: what was measured, what is simulated of the fitted experiment, and their ratio.
struct JobFit {
  std::string name = {};
  double step_s = 0;      ///< median, as measured
  double step_low_s = 0;  ///< its interval of 95 %
  double step_high_s = 0;
  double noise = 0;        ///< relative standard deviation of a step
  double simulated_s = 0;  ///< median step of the fitted experiment, without factor
  double compute_s = 0;    ///< of the slowest worker, in the fitted experiment
  /// Of what a step takes beyond computing: measured over simulated. 1 where there is nothing.
  double factor = 1;
  double factor_low = 1;
  double factor_high = 1;
  double carried = 1;  ///< exponent of the factor in an experiment that is quite another
  bool operator==(const JobFit&) const = default;
};

struct Fitted {
  sim::Level level = sim::Level::Flow;  ///< at which factors hold
  spec::Experiment experiment = {};     ///< resolved; run.scale and run.slow_motion are 1
  std::vector<JobFit> jobs = {};        ///< as in the experiment
  /// What the record calls the experiment's hosts: addresses, where they are of a capture.
  std::vector<std::string> hosts = {};
  std::vector<Constant> constants = {};
  std::vector<std::string> cannot = {};  ///< a sentence for each thing that the record cannot show
};

struct Options {
  sim::Level level = sim::Level::Flow;  ///< Packet is closer, where it can be afforded
  bool in_spite_of_checks = false;      ///< fits a run whose checks failed, and says so in `cannot`
};

/// `folder` is where the record's tables are; empty: there are none, and what only they show is
/// told in `cannot`. Throws DataError with a sentence where nothing can be fitted: a sweep, checks
/// that failed, no steps, packets without a collective. Throws SpecError where the experiment
/// cannot be simulated.
Fitted fit(const record::Run& run, const std::string& folder, const Options& options = {});

/// What a simulation says of a changed experiment.
struct Simulated {
  double step_s = 0;     ///< median step, at the level of the fit
  double compute_s = 0;  ///< compute_s() of that experiment
};

/// Median step that is to be expected: what goes beyond computing, times the part of the factor that
/// carries over.
double step_s(const JobFit& fit, const Simulated& simulated);

/// Median step of each job of a changed experiment: simulated at the level of the fit, with the
/// factors. Throws SpecError where it cannot be simulated. REQUIRES: it has the jobs of the fit.
std::vector<double> steps_s(const Fitted& fitted, const spec::Experiment& changed);

/// What the slowest worker of a job computes in a step. REQUIRES: the experiment is resolved.
double compute_s(const spec::Experiment& experiment, std::size_t job);

/// The experiment that a record was made of, read back: what its file or --set said is said again,
/// the rest is derived anew. Throws DataError where the record has none.
spec::Experiment asked_experiment(const record::Run& run);

}  // namespace tw::like
