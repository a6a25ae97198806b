// SPDX-License-Identifier: Apache-2.0
// What a job of an experiment computes and exchanges in a step: its names turned into a model, a
// layout and times. predict counts and bounds it, lab has ranks do it.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/zoo/model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tw::workload {

struct Compute {
  Duration forward;
  Duration backward;
  std::string source;
  Duration total() const { return forward + backward; }
};

/// Throws SpecError when there is no such model, or it cannot be varied like that.
zoo::Model model_of(const spec::Job& job);

/// REQUIRES: the job's device exists.
Compute compute_of(const spec::Job& job, const zoo::Model& model);

/// Throws SpecError where the strategy cannot be laid out as the job says.
collective::Arrangement arrangement_of(const spec::Experiment& experiment, const spec::Job& job);

/// A bucket and when backward has filled it, after backward's begin.
struct TimedBucket {
  std::int64_t elements;
  Duration ready;
};

/// Layers share the time of backward by their FLOPs, or by their parameters in a model without; the
/// last bucket is ready at its end.
std::vector<TimedBucket> timed_buckets(const zoo::Model& model, Bytes bucket, Duration backward);

}  // namespace tw::workload
