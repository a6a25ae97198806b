// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/regime.h"

#include "trainwire/collective/strategies.h"
#include "trainwire/forecast/changes.h"

#include <algorithm>

namespace tw::forecast {
namespace {

bool has_late(const spec::Experiment& experiment, const spec::Job& job) {
  return !experiment.network.overrides.empty() || *job.compute_jitter > 0 ||
         (*job.straggler && *job.straggler_factor != 1);
}

/// Whether the way of its transfers takes longer than the line.
bool waits_for_ways(const Shape& shape, const workload::Training& training, const Line& line) {
  const auto bytes = static_cast<double>(training.bytes().count());
  const double buckets = static_cast<double>(std::max<std::size_t>(1, training.buckets.size()));
  const double ways = buckets * line.way_s * shape.depth;
  return ways > shape.busiest() * bytes / line.bytes_per_s;
}

}  // namespace

std::string_view name_of(Regime regime) {
  switch (regime) {
    case Regime::Loss:
      return "loss";
    case Regime::Shared:
      return "shared";
    case Regime::Asynchronous:
      return "asynchronous";
    case Regime::Queue:
      return "queue";
    case Regime::Servers:
      return "servers";
    case Regime::Late:
      return "late";
    case Regime::Latency:
      return "latency";
    case Regime::Bandwidth:
      return "bandwidth";
  }
  return "";
}

std::optional<Regime> regime_named(std::string_view name) {
  for (const Regime regime : kRegimes) {
    if (name_of(regime) == name) return regime;
  }
  return {};
}

Regime regime_of(const spec::Experiment& experiment, const spec::Job& job,
                 const workload::Training& training, const Shape& shape) {
  if (is_lossy(experiment.network)) return Regime::Loss;
  if (!experiment.traffic.empty() || experiment.jobs.size() > 1) return Regime::Shared;
  if (training.asynchronous()) return Regime::Asynchronous;
  if (is_shallow(experiment.network)) return Regime::Queue;
  if (training.row().has_servers || training.row().shape == collective::Shape::Tree) {
    return Regime::Servers;
  }
  if (has_late(experiment, job)) return Regime::Late;
  const bool waits = waits_for_ways(shape, training, line_of(experiment.network));
  return waits ? Regime::Latency : Regime::Bandwidth;
}

}  // namespace tw::forecast
