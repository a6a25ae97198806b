// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/job.h"

#include "trainwire/base/units.h"
#include "trainwire/flow/lockstep.h"
#include "trainwire/flow/tempo.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace tw::flow {
namespace {

constexpr double kLeastDominance = 0.6;
constexpr double kLeastRatio = 1.15;
constexpr double kClearDominance = 0.75;  ///< for steps whose strategy is unknown
constexpr double kClearRatio = 2;
constexpr std::size_t kFewestSteps = 3;
constexpr double kAlike = 0.04;  ///< how far lanes that send the same may differ

struct Hypothesis {
  Exchanges exchanges;
  std::optional<Recognition> recognition;
  double score;
};

/// Steps at even distances whose pauses stand out.
bool is_periodic(const Exchanges& exchanges) {
  return exchanges.steps.size() >= kFewestSteps && exchanges.tempo.dominance >= kLeastDominance &&
         exchanges.tempo.ratio >= kLeastRatio;
}

/// Good enough to speak of steps although nobody knows what they do.
bool is_clearly_periodic(const Exchanges& exchanges) {
  return is_periodic(exchanges) && exchanges.tempo.dominance >= kClearDominance &&
         exchanges.tempo.ratio >= kClearRatio && hosts_of(exchanges).size() >= 3 &&
         exchanges.steps.size() >= 2 * kFewestSteps;
}

/// Which lanes send what most lanes send.
std::vector<bool> most_common(const Exchanges& exchanges) {
  std::vector<bool> best;
  std::ptrdiff_t most = 0;
  for (const Lane& lane : exchanges.lanes) {
    std::vector<bool> alike;
    for (const Lane& other : exchanges.lanes) {
      const auto low = static_cast<double>(std::min(lane.bytes, other.bytes));
      const auto high = static_cast<double>(std::max(lane.bytes, other.bytes));
      alike.push_back(low >= (1 - kAlike) * high);
    }
    const std::ptrdiff_t count = std::count(alike.begin(), alike.end(), true);
    if (count > most) {
      most = count;
      best = std::move(alike);
    }
  }
  return best;
}

double bytes_in(const Exchanges& exchanges) {
  double sum = 0;
  for (const ExchangeStep& step : exchanges.steps) sum += static_cast<double>(step.bytes);
  return sum;
}

std::optional<Hypothesis> best_hypothesis(const std::vector<Channel>& channels,
                                          const std::vector<Tempo>& tempos) {
  double all = 0;
  for (const Channel& channel : channels) all += static_cast<double>(channel.bytes);
  std::optional<Hypothesis> best;
  for (const Tempo& tempo : tempos) {
    Exchanges exchanges = align(tempo, channels);
    if (!is_periodic(exchanges)) continue;
    std::optional<Recognition> found = recognise(exchanges, channels);
    if (!found) {
      // Steady traffic of another kind fits every tempo; it does not send what the others send.
      Exchanges alike = only(exchanges, most_common(exchanges));
      found = recognise(alike, channels);
      if (found) exchanges = std::move(alike);
    }
    if (found && found->strategy == "ring") {
      const auto hosts = static_cast<int>(found->order.size());
      if (std::optional<Exchanges> whole = ring_steps(tempo, channels, hosts)) {
        exchanges = std::move(*whole);
        found = recognise(exchanges, channels);
      }
      if (found) found->fit *= 1 - broken_share(exchanges);
    }
    if (!found && !is_clearly_periodic(exchanges)) continue;
    const double score = (found ? 1 + found->fit : 0.1) * bytes_in(exchanges) / all;
    if (!best || score > best->score) best = {std::move(exchanges), std::move(found), score};
  }
  return best;
}

bool has_parallel_flows(const std::vector<Channel>& flows) {
  std::set<std::pair<int, int>> pairs;
  for (const Channel& flow : flows) pairs.insert({flow.from, flow.to});
  return pairs.size() < flows.size();
}

std::string closest(const std::vector<Tempo>& tempos, std::size_t flows) {
  if (flows == 0) return "no flow carries payload between two hosts";
  if (tempos.empty()) {
    return fmt::format(
        "no flow of {} pauses three times at equal distances in bytes, as training steps do",
        flows);
  }
  const Tempo& best = tempos.front();
  return fmt::format(
      "the strongest rhythm ({}) covers {:.0f} % of the bytes in {} flows, and the pause before a "
      "repetition is the longest in {:.0f} % of them (needs {:.0f} %, and a pattern of hosts that "
      "some strategy has)",
      readable(Duration(static_cast<std::int64_t>(best.period_ns))), 100 * best.share,
      best.members.size(), 100 * best.dominance, 100 * kLeastDominance);
}

}  // namespace

std::vector<std::size_t> Job::gradient_flows() const {
  std::set<std::size_t> flows;
  const auto add = [&](std::size_t channel) {
    flows.insert(channels[channel].flows.begin(), channels[channel].flows.end());
  };
  if (exchanges) {
    for (const Lane& lane : exchanges->lanes) add(lane.channel);
  }
  if (pulls) {
    for (const std::size_t channel : pulls->channels) add(channel);
  }
  return {flows.begin(), flows.end()};
}

Job find_job(const Traffic& traffic, const std::vector<int>& host_of) {
  Job job;
  std::vector<Channel> flows = flow_channels(traffic, host_of);
  std::vector<Tempo> tempos = find_tempos(flows, traffic.burst_gap_ns);
  job.looked_for = closest(tempos, flows.size());
  std::optional<Hypothesis> best = best_hypothesis(flows, tempos);
  job.channels = flows;
  if ((!best || !best->recognition) && has_parallel_flows(flows)) {
    std::vector<Channel> pairs = pair_channels(flows, traffic.burst_gap_ns);
    std::optional<Hypothesis> other =
        best_hypothesis(pairs, find_tempos(pairs, traffic.burst_gap_ns));
    if (other && (!best || other->score > best->score)) {
      best = std::move(other);
      job.channels = std::move(pairs);
    }
  }
  if (!best || !best->recognition) {
    job.pulls = find_pulls(flows, traffic.burst_gap_ns);
    if (job.pulls) {
      job.channels = std::move(flows);
      return job;
    }
  }
  if (best) {
    job.exchanges = std::move(best->exchanges);
    job.recognition = std::move(best->recognition);
  }
  return job;
}

}  // namespace tw::flow
