// SPDX-License-Identifier: Apache-2.0
// A job's names turned into a model, a layout, times and buckets: the parts of training.h.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/zoo/model.h"
#include "trainwire/zoo/profile.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tw::workload {

/// How long a worker computes in a step, and what makes it vary.
struct Compute {
  Duration forward = {};
  Duration backward = {};
  double jitter = 0;        ///< relative standard deviation of a step's time
  std::string source = {};  ///< where the times come from
  /// When each gradient is there, in that order; empty: layers share backward by their work.
  std::vector<zoo::Gradient> gradients = {};
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

/// Throws DataError where the job's table of gradients cannot be read, or is that of another model.
/// REQUIRES: the job's device exists.
Compute compute_of(const spec::Job& job, const zoo::Model& model);

/// Throws SpecError where the strategy cannot be laid out as the job says.
collective::Arrangement arrangement_of(const spec::Experiment& experiment, const spec::Job& job);

/// What is sent together: `first` bytes, or as much as `others`; 0: everything.
struct BucketSizes {
  Bytes first = {};
  Bytes others = {};
};

/// Filled in the order in which gradients are there; closed by the one that reaches the size.
/// Without measured gradients layers share the time of backward by their FLOPs, or by their
/// parameters in a model without. The last bucket is ready at backward's end.
std::vector<Bucket> timed_buckets(const zoo::Model& model, const BucketSizes& sizes,
                                  const Compute& compute);

/// Who looks for gradients every `cycle`, sends those that are there together, and does not look again
/// before these are through.
struct Fusion {
  Duration cycle = {};
  Bytes most = {};                             ///< together; 0: any
  std::function<Duration(Bytes bytes)> takes;  ///< an exchange
};
/// Ready when they are found, at backward's end at the latest.
std::vector<Bucket> fused_buckets(const zoo::Model& model, const Fusion& fusion,
                                  const Compute& compute);

}  // namespace tw::workload
