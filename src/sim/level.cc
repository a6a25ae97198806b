// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/level.h"

#include "trainwire/base/error.h"
#include "trainwire/network/network.h"
#include "trainwire/workload/training.h"
#include "trainwire/workload/volume.h"

#include <algorithm>
#include <span>

namespace tw::sim {
namespace {

constexpr double kMostHops = 2e7;  ///< some five seconds
/// Every second segment is acknowledged.
constexpr double kPacketsPerSegment = 1.5;

}  // namespace

std::string_view name_of(Level level) { return level == Level::Flow ? "flow" : "packet"; }

double packet_hops(const spec::Experiment& experiment) {
  const network::Network network(experiment.network);
  double bytes = 0;
  for (const spec::Job& job : experiment.jobs) {
    const workload::Training training = workload::training_of(experiment, job);
    const auto steps = static_cast<double>(training.steps + training.warmup);
    bytes += steps * training.ranks() * static_cast<double>(workload::demand(training).count()) +
             static_cast<double>(workload::start_bytes(training).count());
  }
  const int last = network.hosts() - 1;
  const auto ports = static_cast<double>(last > 0 ? network.path(0, last).size() : 0);
  return kPacketsPerSegment * ports * bytes / *experiment.network.mtu;
}

Level fitting_level(const spec::Experiment& experiment) {
  return packet_hops(experiment) <= kMostHops ? Level::Packet : Level::Flow;
}

Level fitting_level(std::span<const spec::Experiment> points) {
  double hops = 0;
  for (const spec::Experiment& point : points) {
    try {
      hops += packet_hops(point);
    } catch (const SpecError&) {
      continue;  // told when it is its turn
    }
    if (hops > kMostHops) return Level::Flow;
  }
  return Level::Packet;
}

}  // namespace tw::sim
