// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/without.h"

#include "trainwire/account/places.h"
#include "trainwire/spec/links.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tw::account {
namespace {

/// So fast that bytes take no time, and slow enough for whole nanoseconds.
constexpr BitRate kAnyRate{1e13};

void deepen(spec::Setting<spec::Queue>& queue) {
  queue.value.bytes = std::max(queue.value.bytes.value_or(Bytes()), kDeepQueue);
}

/// Queues in bytes, so that they stay what they are when rates and delays change.
void fix_queues(spec::Network& network) {
  const Duration longest = spec::longest_round_trip(network);
  const auto fixed = [&](spec::LinkSettings link) {
    return spec::Queue{.bytes = spec::queue_bytes(network, link, longest)};
  };
  std::vector<spec::Queue> of_overrides;
  for (const spec::LinkOverride& override : network.overrides) {
    spec::LinkSettings link =
        spec::is_core_link(network, *override.at) ? spec::usual_core_link(network) : network.link;
    spec::apply(link, override, (*override.direction).value_or(spec::Direction::FromHost));
    of_overrides.push_back(fixed(link));
  }
  const spec::Queue usual = fixed(network.link);
  for (std::size_t i = 0; i < of_overrides.size(); ++i) {
    network.overrides[i].queue = spec::Setting<spec::Queue>{of_overrides[i]};
  }
  network.link.queue.value = usual;
}

Duration times(Duration time, double factor) {
  return Duration(std::llround(static_cast<double>(time.count()) * factor));
}

/// Whatever goes at a rate of its own is slower than that.
bool has_delay(const spec::Network& network) {
  const auto is_some = [](const auto& held) { return held && held->value.count() != 0; };
  return network.link.delay->count() != 0 || network.link.jitter->count() != 0 ||
         network.core_delay->count() != 0 ||
         std::any_of(
             network.overrides.begin(), network.overrides.end(),
             [&](const spec::LinkOverride& o) { return is_some(o.delay) || is_some(o.jitter); });
}

void set_override(spec::Network& network, const std::string& link, spec::Direction direction,
                  BitRate rate) {
  spec::LinkOverride override;
  override.at.value = link;
  override.direction.value = direction;
  override.rate = spec::Setting<BitRate>{rate};
  network.overrides.push_back(std::move(override));  // the last one counts
}

}  // namespace

spec::Experiment without_loss(spec::Experiment experiment) {
  spec::LinkSettings& link = experiment.network.link;
  link.loss.value = 0;
  deepen(link.queue);
  for (spec::LinkOverride& override : experiment.network.overrides) {
    override.loss.reset();
    override.loss_burst.reset();
    if (override.queue) deepen(*override.queue);
  }
  return experiment;
}

spec::Experiment without_traffic(spec::Experiment experiment) {
  experiment.traffic.clear();
  return experiment;
}

spec::Experiment alone(spec::Experiment experiment, std::size_t job) {
  if (experiment.jobs.size() > 1) {
    experiment.jobs = {experiment.jobs.at(job)};
    experiment.jobs.front().start.value = {};
  }
  return experiment;
}

spec::Experiment without_late_ranks(spec::Experiment experiment, std::size_t job) {
  spec::Job& late = experiment.jobs.at(job);
  late.straggler.value.reset();
  late.compute_jitter.value = 0;
  return experiment;
}

spec::Experiment without_slow_links(spec::Experiment experiment, std::size_t job) {
  for (const SlowLink& slow : slow_links(experiment, job)) {
    set_override(experiment.network, slow.link, slow.direction, slow.peers);
  }
  if (const auto core = narrow_core(experiment, job)) {
    spec::Network& network = experiment.network;
    network.core_rate.value = core->needed;
    for (spec::LinkOverride& override : network.overrides) {
      if (spec::is_core_link(network, *override.at)) override.rate.reset();
    }
  }
  return experiment;
}

spec::Experiment without_window(spec::Experiment experiment) {
  experiment.network.socket_buffer.value.reset();
  return experiment;
}

spec::Experiment with_delays(spec::Experiment experiment, double factor) {
  spec::Network& network = experiment.network;
  if (!has_delay(network)) return experiment;
  fix_queues(network);
  const auto change = [&](spec::Setting<Duration>& time) {
    time.value = times(time.value, factor);
  };
  change(network.link.delay);
  change(network.link.jitter);
  change(network.core_delay);
  for (spec::LinkOverride& override : network.overrides) {
    if (override.delay) change(*override.delay);
    if (override.jitter) change(*override.jitter);
  }
  return experiment;
}

spec::Experiment without_delay(spec::Experiment experiment) {
  return with_delays(std::move(experiment), 0);
}

spec::Experiment without_own_delay(spec::Experiment experiment, const std::string& link) {
  spec::Network& network = experiment.network;
  fix_queues(network);
  for (spec::LinkOverride& override : network.overrides) {
    if (*override.at == link) override.delay.reset();
  }
  return experiment;
}

spec::Experiment without_rates(spec::Experiment experiment) {
  spec::Network& network = experiment.network;
  fix_queues(network);
  network.link.rate.value = kAnyRate;
  network.core_rate.value = kAnyRate;
  for (spec::LinkOverride& override : network.overrides) override.rate.reset();
  return experiment;
}

spec::Experiment with_rates(spec::Experiment experiment, double factor) {
  spec::Network& network = experiment.network;
  fix_queues(network);
  network.link.rate.value = *network.link.rate * factor;
  network.core_rate.value = *network.core_rate * factor;
  for (spec::LinkOverride& override : network.overrides) {
    if (override.rate) override.rate->value = override.rate->value * factor;
  }
  return experiment;
}

spec::Experiment without_overlap(spec::Experiment experiment, std::size_t job) {
  experiment.jobs.at(job).overlap.value = false;
  experiment.jobs.at(job).forward_overlap.value = false;
  return experiment;
}

}  // namespace tw::account
