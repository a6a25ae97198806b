// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/calibrate.h"

#include "trainwire/measure/round_trip.h"
#include "trainwire/testbed/check.h"

#include <algorithm>

namespace tw::testbed {
namespace {

Duration shortest_delay(const network::NetPlan& plan) {
  Duration shortest = std::chrono::hours(1);
  for (const network::Port& port : plan.ports) shortest = std::min(shortest, port.delay);
  return shortest;
}

}  // namespace

std::int64_t early_for(Duration asked, Duration found, Duration shortest_delay) {
  return std::clamp<std::int64_t>((found - asked).count() / 2, 0, shortest_delay.count());
}

void calibrate(const Cluster& cluster) {
  const network::NetPlan& plan = cluster.plan();
  if (cluster.engine() == spec::Engine::Netem || plan.hosts.size() < 2) return;
  const CheckedPath path = paths_to_check(plan, Coverage::EveryKind).front();
  const measure::MeasuredRoundTrip found =
      measure::measure_round_trip(end_of(cluster, path.from), end_of(cluster, path.to));
  cluster.counters().early_ns() =
      early_for(expectation(plan, path).round_trip, found.median, shortest_delay(plan));
}

}  // namespace tw::testbed
