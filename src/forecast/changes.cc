// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/changes.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tw::forecast {
namespace {

constexpr Bytes kShallow{100'000};

Duration times(Duration delay, double factor) { return from_seconds(factor * seconds(delay)); }

}  // namespace

bool is_lossy(const spec::Network& network) {
  return *network.link.loss > 0 ||
         std::any_of(network.overrides.begin(), network.overrides.end(),
                     [](const spec::LinkOverride& link) { return link.loss && **link.loss > 0; });
}

bool is_shallow(const spec::Network& network) {
  return spec::queue_bytes(network, network.link) < kShallow;
}

std::optional<Bytes> marked_from(const spec::Network& network) {
  std::optional<Bytes> least = *network.link.ecn;
  for (const spec::LinkOverride& link : network.overrides) {
    if (!link.ecn || !**link.ecn) continue;
    least = std::min(least.value_or(***link.ecn), ***link.ecn);
  }
  return least;
}

spec::Experiment with_rates(spec::Experiment experiment, double factor) {
  spec::Network& network = experiment.network;
  network.link.rate.value = *network.link.rate * factor;
  network.core_rate.value = *network.core_rate * factor;
  for (spec::LinkOverride& link : network.overrides) {
    if (link.rate) link.rate->value = **link.rate * factor;
  }
  return experiment;
}

spec::Experiment with_delays(spec::Experiment experiment, double factor) {
  spec::Network& network = experiment.network;
  network.link.delay.value = times(*network.link.delay, factor);
  network.core_delay.value = times(*network.core_delay, factor);
  for (spec::LinkOverride& link : network.overrides) {
    if (link.delay) link.delay->value = times(**link.delay, factor);
  }
  return experiment;
}

spec::Experiment with_loss(spec::Experiment experiment, double factor) {
  spec::Network& network = experiment.network;
  const auto changed = [factor](double loss) { return std::clamp(loss * factor, 0.0, 1.0); };
  network.link.loss.value = changed(*network.link.loss);
  for (spec::LinkOverride& link : network.overrides) {
    if (link.loss) link.loss->value = changed(**link.loss);
  }
  return experiment;
}

std::vector<std::string> settings_for_ranks(const spec::Experiment& experiment, int ranks) {
  if (experiment.jobs.size() != 1) {
    throw SpecError("there are several jobs: leave one of them for other numbers of ranks");
  }
  const spec::Job& job = experiment.jobs.front();
  const auto named = [](spec::Origin origin) {
    return origin == spec::Origin::File || origin == spec::Origin::Override;
  };
  if (named(job.hosts.origin) || named(job.placement.origin)) {
    throw SpecError(
        "job.hosts and job.placement name the hosts of these ranks; leave them out for other "
        "numbers");
  }
  const std::vector<int> places = spec::placement(experiment.network, job);
  const std::set<int> used(places.begin(), places.end());
  const double per_host = static_cast<double>(places.size()) /
                          static_cast<double>(std::max<std::size_t>(1, used.size()));
  const int hosts = std::max(1, static_cast<int>((ranks + per_host - 1) / per_host));
  const std::string number =
      named(job.workers.origin) ? fmt::format("job.workers={}", ranks - (*job.ranks - *job.workers))
                                : fmt::format("job.ranks={}", ranks);
  return {fmt::format("network.hosts={}", hosts), number};
}

}  // namespace tw::forecast
