// SPDX-License-Identifier: Apache-2.0
// What a predicted step is made of: the same experiment with one cause left out after another, in a fixed order, so that
// the parts add up to the step.
//
//   loss (of links, and in queues that overflow), cross traffic, other jobs, late ranks, slow links, delays (latency), rates (bandwidth); what stays is compute
//
// A step that was found packet by packet is taken apart by packets too where they are few enough; else parts are those of flows, stretched
// to the step.
//
// Limits: causes act together, and what two of them cost together counts for the one that is left out first.

#pragma once

#include "trainwire/forecast/step.h"
#include "trainwire/spec/experiment.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tw::forecast {

struct Part {
  std::string name =
      {};  ///< "compute", "bandwidth", "latency", "slow_link", "late_rank", "other_job", "cross_traffic", "loss"
  double seconds = 0;
};

/// In the order above, without causes that the experiment has not. REQUIRES: `step` is the job's.
std::vector<Part> parts_of(const spec::Experiment& experiment, std::size_t job,
                           const StepTime& step, const Asking& asking = {});

/// What bounds the step most, and what comes next.
struct Binding {
  std::string resource = {};  ///< as Part::name
  std::string where = {};     ///< "host0, to_host"; empty where it is no link
  double seconds = 0;
  std::string next = {};
  /// How many times less of the binding one makes the next one count as much; 1: both do. Nothing where there is no next.
  std::optional<double> headroom = {};
};
Binding binding_of(const spec::Experiment& experiment, std::size_t job,
                   const std::vector<Part>& parts);

}  // namespace tw::forecast
