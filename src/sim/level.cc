// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/level.h"

#include "trainwire/base/error.h"
#include "trainwire/network/network.h"
#include "trainwire/workload/training.h"
#include "trainwire/workload/volume.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>

namespace tw::sim {
namespace {

constexpr double kMostHops = 2e7;  ///< some five seconds
/// Every second segment is acknowledged.
constexpr double kPacketsPerSegment = 1.5;
/// TCP's timers end at 2 min; fluids have seconds in doubles.
constexpr Duration kMostPacketDelay = std::chrono::minutes(10);
constexpr Duration kMostFlowDelay = std::chrono::hours(100);

bool is_bearable(const spec::Experiment& experiment) {
  try {
    require_bearable_delays(network::Network(experiment.network), Level::Packet);
  } catch (const SpecError&) {
    return false;
  }
  return true;
}

/// Of jobs, at least: they compute so long.
double least_seconds(const workload::Training& training) {
  return seconds(training.compute.total()) * static_cast<double>(training.steps + training.warmup);
}

double traffic_bytes(const spec::Experiment& experiment, double lasting_s) {
  double rate_bps = 0;
  for (const spec::Traffic& traffic : experiment.traffic) {
    const spec::Load& load = *traffic.load;
    rate_bps += load.rate
                    ? load.rate->bits_per_second()
                    : load.share.value_or(0) * experiment.network.link.rate->bits_per_second();
  }
  return lasting_s * rate_bps / 8;
}

}  // namespace

std::string_view name_of(Level level) { return level == Level::Flow ? "flow" : "packet"; }

Duration longest_time(Level level) {
  return level == Level::Flow ? std::chrono::hours(24 * 365 * 200) : std::chrono::hours(2000);
}

void require_bearable_delays(const network::Network& network, Level level) {
  const Duration most = level == Level::Packet ? kMostPacketDelay : kMostFlowDelay;
  for (int port = 0; port < network.ports(); ++port) {
    const Duration delay = network.request(port).delay;
    if (delay <= most) continue;
    throw SpecError(fmt::format(
        "link {}: a delay of {} is longer than can be simulated {} by {}; ask for {} at most{}",
        network.link_name(port / 2), readable(delay), name_of(level), name_of(level),
        readable(most), delay <= kMostFlowDelay ? ", or simulate with --level flow" : ""));
  }
}

double packet_hops(const spec::Experiment& experiment) {
  const network::Network network(experiment.network);
  double bytes = 0;
  double lasting_s = 0;
  for (const spec::Job& job : experiment.jobs) {
    const workload::Training training = workload::training_of(experiment, job);
    const auto steps = static_cast<double>(training.steps + training.warmup);
    bytes += steps * training.ranks() * static_cast<double>(workload::demand(training).count()) +
             static_cast<double>(workload::start_bytes(training).count());
    lasting_s = std::max(lasting_s, least_seconds(training));
  }
  bytes += traffic_bytes(experiment, lasting_s);
  const int last = network.hosts() - 1;
  const auto ports = static_cast<double>(last > 0 ? network.path(0, last).size() : 0);
  return kPacketsPerSegment * ports * bytes / *experiment.network.mtu;
}

Level fitting_level(const spec::Experiment& experiment) {
  const bool is_quick = packet_hops(experiment) <= kMostHops;
  return is_quick && is_bearable(experiment) ? Level::Packet : Level::Flow;
}

Level fitting_level(std::span<const spec::Experiment> points) {
  double hops = 0;
  for (const spec::Experiment& point : points) {
    try {
      hops += packet_hops(point);
    } catch (const SpecError&) {
      continue;  // told when it is its turn
    }
    if (hops > kMostHops || !is_bearable(point)) return Level::Flow;
  }
  return Level::Packet;
}

}  // namespace tw::sim
