// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/trials.h"

#include "trainwire/base/error.h"
#include "trainwire/network/network.h"
#include "trainwire/sim/describe.h"
#include "trainwire/sim/simulate.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace tw::account {
namespace {

/// An accounting takes about so many trials.
constexpr double kTrials = 12;
/// More ranks than these take seconds to be laid out, whatever their steps.
constexpr int kMostRanks = 2048;
/// The first model takes more messages than a step, and stands against closed forms.
constexpr int kManyRanks = 64;
constexpr int kFewSteps = 3;

std::vector<double> busy_s(const spec::Experiment& experiment, const sim::Simulated& simulated) {
  const network::Network network(experiment.network);
  std::vector<double> busy;
  busy.reserve(simulated.ports.size());
  for (std::size_t port = 0; port < simulated.ports.size(); ++port) {
    busy.push_back(8 * simulated.ports[port].wire_bytes /
                   network.request(static_cast<int>(port)).rate.bits_per_second());
  }
  return busy;
}

int ranks_of(const spec::Experiment& experiment) {
  int ranks = 0;
  for (const spec::Job& job : experiment.jobs) ranks += *job.ranks;
  return ranks;
}

}  // namespace

Trials::Trials(spec::Experiment experiment, double budget_s)
    : experiment_(std::move(experiment)),
      budget_s_(budget_s),
      end_(Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(budget_s))) {
  experiment_.faults.clear();
  if (ranks_of(experiment_) > kMostRanks) {
    problem_ = "the job is too large to be simulated again for each cause";
    return;
  }
  if (ranks_of(experiment_) > kManyRanks) {
    for (spec::Job& job : experiment_.jobs) job.broadcast.value = false;
  }
  take_fewer_steps();
}

/// As many as a twelfth of the time allows, if that is fewer than there are.
void Trials::take_fewer_steps() {
  const auto steps_of = [](const spec::Job& job) { return *job.steps + *job.warmup; };
  spec::Experiment probe = experiment_;
  for (spec::Job& job : probe.jobs) {
    job.steps.value = std::min<std::int64_t>(*job.steps, kFewSteps);
    job.warmup.value = std::min(*job.warmup, 1);
  }
  const auto begin = Clock::now();
  if (!of(probe, 0)) return;
  const double took_s = std::chrono::duration<double>(Clock::now() - begin).count();
  const double share = budget_s_ / kTrials / std::max(took_s, 1e-9);
  for (std::size_t i = 0; i < probe.jobs.size(); ++i) {
    spec::Job& job = experiment_.jobs[i];
    const double most = std::max(1.0, share) * static_cast<double>(steps_of(probe.jobs[i]));
    if (most >= static_cast<double>(steps_of(job))) continue;
    job.warmup.value = std::min(*job.warmup, 1);
    job.steps.value = std::min(
        *job.steps, std::max<std::int64_t>(kFewSteps, static_cast<std::int64_t>(most) - 1));
  }
}

const Trials::Known* Trials::known(const spec::Experiment& experiment, Manner manner) const {
  const auto found = std::ranges::find_if(known_, [&](const Known& each) {
    const bool is_same = each.manner == manner || (each.in_any_manner && manner != Manner::Packets);
    return is_same && each.experiment == experiment;
  });
  return found == known_.end() ? nullptr : &*found;
}

std::optional<Trial> Trials::of(const spec::Experiment& experiment, std::size_t job,
                                Manner manner) {
  if (!problem_.empty()) return {};
  if (known(experiment, manner) == nullptr) simulate(experiment, manner);
  const Known* found = known(experiment, manner);
  if (found == nullptr) return {};
  return Trial{.step_s = found->step_s.at(job), .port_busy_s = found->port_busy_s};
}

/// Known afterwards, or a problem; of packets perhaps neither.
void Trials::simulate(const spec::Experiment& experiment, Manner manner) {
  const bool by_packets = manner == Manner::Packets;
  const auto now = Clock::now();
  try {
    simulate(experiment, manner, by_packets ? now + (end_ - now) / 2 : end_);
  } catch (const std::logic_error&) {
    throw;
  } catch (const Error& error) {
    if (!by_packets) problem_ = error.what();
  }
}

void Trials::simulate(const spec::Experiment& experiment, Manner manner, Clock::time_point end) {
  const auto is_time_left = [end] { return Clock::now() < end; };
  const bool by_packets = manner == Manner::Packets;
  const sim::Simulated simulated = sim::simulate(
      experiment, by_packets ? sim::Level::Packet : sim::Level::Flow,
      {.goes_on = [&](Duration) { return is_time_left(); }, .at_once = manner == Manner::AtOnce});
  if (!is_time_left()) throw DataError("simulating it again for each cause takes too long");
  Known made{.experiment = experiment,
             .manner = manner,
             .in_any_manner = !by_packets && std::string_view(simulated.mode) != sim::kExplicit,
             .port_busy_s = busy_s(experiment, simulated)};
  for (const sim::SimulatedJob& job : simulated.jobs) {
    made.step_s.push_back(sim::median_step_s(job));
  }
  known_.push_back(std::move(made));
}

}  // namespace tw::account
