// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/job.h"

#include "trainwire/base/units.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/recognise/dialogue.h"
#include "trainwire/recognise/footprint.h"
#include "trainwire/recognise/hypothesis.h"
#include "trainwire/recognise/likelihood.h"
#include "trainwire/recognise/mesh.h"
#include "trainwire/recognise/one_side.h"
#include "trainwire/rhythm/lockstep.h"
#include "trainwire/rhythm/logged_tempo.h"
#include "trainwire/rhythm/steady.h"
#include "trainwire/rhythm/tempo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace tw::recognise {
namespace {

constexpr double kHighestScore = 2;  ///< of a hypothesis that explains all bytes and fits perfectly
constexpr double kLeastOfConnection = 0.1;  ///< of a mean one
constexpr double kMostOfPair = 0.7;         ///< bytes in one flow of a pair that has no stripes
constexpr double kCertain = 50;             ///< nats: that it is known at all is decided before
constexpr double kAlike = 0.04;             ///< how far lanes that send the same may differ
constexpr double kLeastExplained = 0.6;  ///< of all bytes: with less, hosts may exchange by chance

/// What channels were tried and what they gave.
struct Attempt {
  std::vector<rhythm::Channel> channels = {};
  std::optional<rhythm::Tempo> first = {};  ///< of most bytes
  std::optional<Hypothesis> best = {};
  std::optional<Repetition> repetition = {};  ///< of most bytes that is no training

  bool is_recognised() const { return best && best->recognition; }
  double score() const { return best ? best->score : 0; }
  /// Share of all bytes that are in recognised exchanges.
  double explained() const {
    if (!is_recognised()) return 0;
    const double all = rhythm::bytes_of(channels);
    return all > 0 ? bytes_in(best->exchanges) / all : 0;
  }
};

Repetition repetition_of(const Hypothesis& found) {
  return {.period_ns = found.exchanges.tempo.period_ns,
          .hosts = rhythm::hosts_of(found.exchanges),
          .why_not = *found.why_not};
}

/// Whether beats of `slower` are several steps, before each of which all compute.
bool are_several(const rhythm::Tempo& slower, const rhythm::Steps& steps,
                 std::span<const rhythm::Channel> channels) {
  constexpr double kNoMultiple = 0.1;
  const double times = slower.period_ns / steps.tempo.period_ns;
  const double count = std::round(times);
  return count >= 2 && std::abs(times - count) < kNoMultiple &&
         rhythm::rest_alike(steps, channels, static_cast<std::size_t>(count));
}

/// Where the likeliest tempo of some channels gives no strategy: what the next ones give, if any.
/// None is slower than what begins by a wish: that begins every n-th of its beats as well.
std::optional<Hypothesis> best_rival(const rhythm::Tempos& tempos,
                                     std::span<const rhythm::Channel> channels,
                                     const Circumstances& setting,
                                     const std::optional<Hypothesis>& likeliest) {
  std::optional<Hypothesis> best;
  const double all = rhythm::bytes_of(channels);
  for (const rhythm::Tempo& rival : tempos.rivals()) {
    if (likeliest && likeliest->begins_otherwise &&
        rival.period_ns > likeliest->exchanges.tempo.period_ns) {
      continue;
    }
    if (likeliest && are_several(rival, likeliest->exchanges, channels)) continue;
    std::optional<Hypothesis> found = hypothesis(rival, channels, setting);
    if (!found || !found->recognition || is_dense(*found->recognition)) continue;
    if (bytes_in(found->exchanges) < kLeastExplained * all) continue;
    found->score = worth(*found, setting) * bytes_in(found->exchanges);
    if (!best || found->score > best->score) best = std::move(found);
  }
  return best;
}

/// The best hypothesis of all tempos; those of fewer bytes than could beat it are not looked for.
Attempt attempt(std::vector<rhythm::Channel> channels, const Circumstances& setting) {
  Attempt result{.channels = std::move(channels)};
  rhythm::Tempos tempos(result.channels, setting.gap_ns);
  const double all_bytes = tempos.rest_bytes();
  while (kHighestScore * tempos.rest_bytes() > result.score() * all_bytes) {
    std::optional<rhythm::Tempo> tempo = tempos.next();
    if (!tempo) break;
    std::optional<Hypothesis> found = hypothesis(*tempo, result.channels, setting);
    if (!setting.only_host && (!found || !found->recognition)) {
      if (auto other = best_rival(tempos, result.channels, setting, found))
        found = std::move(other);
    }
    if (found && found->why_not) {
      if (!result.repetition) result.repetition = repetition_of(*found);
    } else if (found) {
      found->score = worth(*found, setting) * bytes_in(found->exchanges) / all_bytes;
      if (found->score > result.score()) result.best = std::move(found);
    }
    if (!result.first) result.first = std::move(tempo);
  }
  return result;
}

/// What the steps of the log are: no doubt about where they begin, only about what they do.
Attempt logged_attempt(const imports::StepLog& log, std::vector<rhythm::Channel> channels,
                       const Circumstances& setting) {
  if (std::optional<std::vector<rhythm::Channel>> smooth = rhythm::without_spacing(channels)) {
    channels = std::move(*smooth);
  }
  Attempt result{.channels = std::move(channels)};
  result.first = rhythm::logged_tempo(log, result.channels, setting.gap_ns);
  if (!result.first) return result;
  rhythm::Steps exchanges = rhythm::align(*result.first, result.channels);
  std::optional<Recognition> found = recognise_most(exchanges, result.channels, setting.views);
  if (found && is_hidden(exchanges, *found, setting)) return result;
  if (found) result.best = Hypothesis{std::move(exchanges), std::move(found), kHighestScore};
  return result;
}

/// The same without the spacing of slow links; where that gives nothing, they were small steps.
Attempt attempt_both(std::vector<rhythm::Channel> channels, const Circumstances& setting) {
  std::optional<std::vector<rhythm::Channel>> smooth = rhythm::without_spacing(channels);
  if (!smooth) return attempt(std::move(channels), setting);
  Attempt result = attempt(std::move(*smooth), setting);
  if (result.is_recognised()) return result;
  Attempt other = attempt(std::move(channels), setting);
  return other.score() >= result.score() ? other : result;
}

/// How often the ring passes each of its edges: connections that carry the same, one for each time.
/// Nothing unless there are as many on all edges, and those of an edge carry bytes alike.
std::optional<int> passes_of(const Job& job, const gather::Captured& traffic) {
  std::map<std::pair<int, int>, std::vector<double>> edges;
  for (const rhythm::Lane& lane : job.exchanges->lanes) {
    const std::vector<std::size_t>& flows = job.channels[lane.channel].flows;
    std::vector<double>& bytes = edges[{lane.from, lane.to}];
    for (const std::size_t flow : flows) {
      const auto all = static_cast<double>(traffic.flows[flow].stream_bytes());
      bytes.push_back(flows.size() == 1 ? static_cast<double>(lane.bytes) : all);
    }
  }
  const std::size_t passes = edges.begin()->second.size();
  const bool is_even = std::all_of(edges.begin(), edges.end(), [&](const auto& edge) {
    const auto [least, most] = std::minmax_element(edge.second.begin(), edge.second.end());
    return edge.second.size() == passes && *least >= (1 - kAlike) * *most;
  });
  if (!is_even || edges.size() != job.recognition->order.size()) return std::nullopt;
  return static_cast<int>(passes);
}

/// Ranks that share a host, where the exchange itself does not show them.
void count_ranks(Job& job, const gather::Captured& traffic, const std::vector<int>& host_of) {
  if (!job.recognition || !is_ring(*job.recognition)) return;
  const std::optional<int> passes = passes_of(job, traffic);
  if (!passes) return;
  const int ranks = ranks_by_mesh(traffic, host_of, job.recognition->order);
  if (ranks > 1 && *passes <= ranks) set_ranks_on_each(*job.recognition, ranks, *passes);
}

/// What each connection carries in a typical step.
std::vector<Carried> carried_by(const Job& job, const gather::Captured& traffic) {
  std::vector<Carried> result;
  for (const rhythm::Lane& lane : job.exchanges->lanes) {
    double all = 0;
    const std::vector<std::size_t>& flows = job.channels[lane.channel].flows;
    for (const std::size_t flow : flows) {
      all += static_cast<double>(traffic.flows[flow].stream_bytes());
    }
    for (const std::size_t flow : flows) {
      const double part = static_cast<double>(traffic.flows[flow].stream_bytes()) / all;
      // Beside those that carry data there may be others, for words between ranks.
      if (part * static_cast<double>(flows.size()) < kLeastOfConnection) continue;
      result.push_back({lane.from, lane.to, part * static_cast<double>(lane.bytes)});
    }
  }
  return result;
}

Recognition recognition_of(const Packed& found) {
  const collective::Strategy& strategy = *collective::find_strategy(found.strategy);
  Recognition packed{.operation = std::string(collective::name_of(strategy.operation)),
                     .strategy = found.strategy,
                     .order = found.order,
                     .servers = found.servers,
                     .starters = {},
                     .payload = found.payload,
                     .evidence = fmt::format(
                         "the connections between hosts are those of {} with {} ranks on each, "
                         "what each of them carries within {:.1f} %",
                         found.strategy, found.ranks_on_each, 100 * found.residual),
                     .nats = -found.residual / kAssumed.framing,
                     .ranks_on_each = found.ranks_on_each};
  const bool is_tree = strategy.shape == collective::Shape::Tree;
  for (const int host : packed.order) {
    const bool serves = std::count(packed.servers.begin(), packed.servers.end(), host) > 0;
    const bool is_root = is_tree && host == packed.order.front();
    if (!serves && !is_root) packed.starters.push_back(host);
  }
  std::stable_partition(packed.order.begin(), packed.order.end(), [&](int host) {
    return std::count(packed.servers.begin(), packed.servers.end(), host) > 0;
  });
  return packed;
}

/// Several ranks on each host, where their connections show them. A ring's do not.
void unpack_hosts(Job& job, const gather::Captured& traffic) {
  if (!job.exchanges || job.only_host) return;
  if (job.recognition && is_ring(*job.recognition) && job.recognition->order.size() > 2) return;
  const std::vector<Packed> matches = match_packed(carried_by(job, traffic));
  if (matches.empty()) return;
  // Where hosts have one connection each, nothing but the bytes between them speaks for either.
  const double one_rank = matches.front().connections > 1 ? kAssumed.stripes : kAssumed.one_rank;
  std::vector<Recognition> offers;
  for (const Packed& match : matches) {
    offers.push_back(recognition_of(match));
    offers.back().nats += kCertain + std::log((1 - one_rank) / static_cast<double>(matches.size()));
  }
  if (job.recognition) {
    offers.push_back(*job.recognition);
    offers.back().nats = kCertain + std::log(one_rank);
  }
  const double fit = job.recognition ? job.recognition->fit : 1;
  job.recognition = best_of(std::move(offers));
  if (job.recognition->ranks_on_each == 1) job.recognition->fit *= fit;
}

/// How the flows of a directed pair share its bytes.
struct PairShare {
  std::uint64_t bytes = 0;
  std::uint64_t largest = 0;  ///< of one flow
};

std::vector<PairShare> pair_shares(const std::vector<rhythm::Channel>& flows) {
  std::map<std::pair<int, int>, PairShare> pairs;
  for (const rhythm::Channel& flow : flows) {
    PairShare& pair = pairs[{flow.from, flow.to}];
    pair.bytes += flow.bytes;
    pair.largest = std::max(pair.largest, flow.bytes);
  }
  std::vector<PairShare> result;
  for (const auto& [hosts, share] : pairs) result.push_back(share);
  return result;
}

/// Whether most bytes travel between hosts that spread them over several connections: what each of
/// these carries in a step is then an accident of how they take turns.
bool is_striped(const std::vector<PairShare>& pairs) {
  double all = 0;
  double striped = 0;
  for (const PairShare& pair : pairs) {
    const auto bytes = static_cast<double>(pair.bytes);
    all += bytes;
    if (static_cast<double>(pair.largest) < kMostOfPair * bytes) striped += bytes;
  }
  return striped > all / 2;
}

/// What one host's side tells of steps whose strategy does not show.
void set_one_side(Job& job, const Circumstances& setting, const gather::Captured& traffic,
                  const std::vector<int>& host_of) {
  job.only_host = setting.only_host;
  if (!job.only_host) return;
  const std::optional<double> edge = ring_edge(*job.exchanges, *job.only_host);
  const int hosts = 1 + partners_of(*job.only_host, traffic, host_of);
  // Connected with its neighbours alone, it could be in a ring of any size.
  if (!edge || hosts <= 3) return;
  job.ring_guess = {.hosts = hosts, .payload = *edge * hosts / (2.0 * (hosts - 1))};
}

/// By flow, and by pair where pairs have several: first that which is more likely.
Attempt attempt_flows(const std::vector<rhythm::Channel>& flows, const Circumstances& setting) {
  const std::vector<PairShare> pairs = pair_shares(flows);
  const auto by_pair = [&] {
    return attempt_both(rhythm::pair_channels(flows, setting.gap_ns), setting);
  };
  const bool pairs_first = is_striped(pairs);
  Attempt best = pairs_first ? by_pair() : attempt_both(flows, setting);
  if (best.is_recognised() || pairs.size() == flows.size()) return best;
  Attempt other = pairs_first ? attempt_both(flows, setting) : by_pair();
  return other.score() > best.score() ? other : best;
}

/// The same without traffic that never pauses, where there is some.
void look_past_steady(Job& job, Attempt& best, const std::vector<rhythm::Channel>& flows,
                      const Circumstances& setting) {
  std::optional<std::vector<rhythm::Channel>> calm = rhythm::without_steady(flows);
  if (!calm) return;
  Attempt other = attempt_flows(*calm, setting);
  if (other.is_recognised()) {
    best = std::move(other);
    return;
  }
  job.pulls = find_pulls(*calm, setting.gap_ns);
  job.channels = std::move(*calm);
}

/// The same by one host's side alone, where captures of some hosts show no more.
void look_from_one_side(Attempt& best, const std::vector<rhythm::Channel>& flows,
                        Circumstances& setting, const std::optional<int>& witness) {
  if (!witness) return;
  std::vector<rhythm::Channel> own;
  std::copy_if(
      flows.begin(), flows.end(), std::back_inserter(own),
      [&](const rhythm::Channel& flow) { return flow.from == *witness || flow.to == *witness; });
  Circumstances alone = setting;
  alone.only_host = witness;
  Attempt other = attempt_flows(own, alone);
  if (!other.best || other.best->why_not) return;
  best = std::move(other);
  setting = alone;
}

std::string closest(const std::optional<rhythm::Tempo>& best, std::size_t flows) {
  if (flows == 0) return "no flow carries payload between two hosts";
  if (!best) {
    return fmt::format(
        "no flow of {} pauses three times at equal distances in bytes, as training steps do",
        flows);
  }
  return fmt::format(
      "the strongest rhythm ({}) covers {:.0f} % of the bytes in {} flows, and the pause before a "
      "repetition is the longest in {:.0f} % of them (needs {:.0f} %, and a pattern of hosts that "
      "some strategy has)",
      readable(Duration(static_cast<std::int64_t>(best->period_ns))), 100 * best->share,
      best->members.size(), 100 * best->dominance, 100 * kLeastDominance);
}

}  // namespace

std::vector<std::size_t> Job::gradient_flows() const {
  std::set<std::size_t> flows;
  const auto add = [&](std::size_t channel) {
    flows.insert(channels[channel].flows.begin(), channels[channel].flows.end());
  };
  if (exchanges) {
    for (const rhythm::Lane& lane : exchanges->lanes) add(lane.channel);
  }
  if (pulls) {
    for (const std::size_t channel : pulls->channels) add(channel);
  }
  return {flows.begin(), flows.end()};
}

Job job_of(const std::vector<rhythm::Channel>& flows, const gather::Captured& traffic,
           const std::vector<int>& host_of, const std::optional<imports::StepLog>& log) {
  Circumstances setting{.gap_ns = traffic.burst_gap_ns,
                        .only_host = only_witness(traffic, host_of),
                        .views = views_of(traffic, host_of)};
  Job job;
  Attempt best;
  if (log) {
    const bool by_pair = is_striped(pair_shares(flows));
    best = logged_attempt(*log, by_pair ? rhythm::pair_channels(flows, setting.gap_ns) : flows,
                          setting);
  }
  job.from_log = best.is_recognised();
  if (!best.is_recognised()) {
    best = attempt_flows(flows, setting);
    job.looked_for = closest(best.first, flows.size());
  }
  if (best.explained() < kLeastExplained) job.pulls = find_pulls(flows, setting.gap_ns);
  if (!best.is_recognised() && !job.pulls) job.pulls = find_asynchronous_servers(flows);
  if (job.pulls) {
    job.channels = flows;
  }
  if (!best.is_recognised() && !job.pulls) look_past_steady(job, best, flows, setting);
  if (!best.best && !job.pulls) {
    look_from_one_side(best, flows, setting, best_witness(traffic, host_of));
  }
  if (job.pulls) {
    job.score = job.pulls->share;
    return job;
  }
  job.score = best.score();
  job.channels = std::move(best.channels);
  job.repetition = std::move(best.repetition);
  if (best.best) {
    job.exchanges = std::move(best.best->exchanges);
    job.recognition = std::move(best.best->recognition);
    job.alternative = best.best->alternative;
    job.doubt = best.best->doubt;
    if (!job.recognition) set_one_side(job, setting, traffic, host_of);
  }
  unpack_hosts(job, traffic);
  count_ranks(job, traffic, host_of);
  return job;
}

}  // namespace tw::recognise
