// SPDX-License-Identifier: Apache-2.0
// A job's names turned into a model, a layout, times and buckets: the parts of training.h.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/zoo/model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tw::workload {

/// How long a worker computes in a step, and what makes it vary.
struct Compute {
  Duration forward = {};
  Duration backward = {};
  double jitter = 0;        ///< relative standard deviation of a step's time
  std::string source = {};  ///< where the times come from
  Duration total() const { return forward + backward; }
  bool operator==(const Compute&) const = default;
};

/// Gradients sent together, and when backward has filled them, after its begin.
struct Bucket {
  std::int64_t elements = 0;
  Duration ready = {};
  bool operator==(const Bucket&) const = default;
};

/// Throws SpecError when there is no such model, or it cannot be varied like that.
zoo::Model model_of(const spec::Job& job);

/// REQUIRES: the job's device exists.
Compute compute_of(const spec::Job& job, const zoo::Model& model);

/// Throws SpecError where the strategy cannot be laid out as the job says.
collective::Arrangement arrangement_of(const spec::Experiment& experiment, const spec::Job& job);

/// Layers share the time of backward by their FLOPs, or by their parameters in a model without; the
/// last bucket is ready at its end.
std::vector<Bucket> timed_buckets(const zoo::Model& model, Bytes bucket, Duration backward);

}  // namespace tw::workload
