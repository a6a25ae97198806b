// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/packets.h"

#include "trainwire/workload/training.h"
#include "trainwire/workload/volume.h"

namespace tw::forecast {
namespace {

constexpr double kLinks = 2;     ///< of a way
constexpr double kAnswer = 1.5;  ///< an acknowledgement for two segments

double traffic_bps(const spec::Experiment& experiment) {
  double sum = 0;
  for (const spec::Traffic& traffic : experiment.traffic) {
    const spec::Load& load = *traffic.load;
    const double rate = experiment.network.link.rate->bits_per_second();
    sum += load.rate ? load.rate->bits_per_second() : load.share.value_or(1) * rate;
  }
  return sum;
}

}  // namespace

bool is_nearer_by_packets(Regime regime) {
  switch (regime) {
    case Regime::Loss:
    case Regime::Shared:
    case Regime::Queue:
    case Regime::Servers:
    case Regime::Asynchronous:
      return true;
    case Regime::Late:
    case Regime::Latency:
    case Regime::Bandwidth:
      return false;
  }
  return false;
}

double packets_of(const spec::Experiment& experiment, double step_s) {
  const double segment = static_cast<double>(*experiment.network.mtu);
  double bytes = 0;
  for (const spec::Job& job : experiment.jobs) {
    const workload::Training training = workload::training_of(experiment, job);
    const auto steps = static_cast<double>(*job.steps + *job.warmup + 1);
    bytes += steps * *job.ranks * static_cast<double>(workload::demand(training).count());
  }
  const spec::Job& first = experiment.jobs.front();
  bytes += traffic_bps(experiment) / 8 * step_s * static_cast<double>(*first.steps + *first.warmup);
  return kLinks * kAnswer * bytes / segment;
}

}  // namespace tw::forecast
