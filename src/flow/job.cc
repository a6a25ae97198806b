// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/job.h"

#include "trainwire/base/units.h"
#include "trainwire/flow/clocked.h"
#include "trainwire/flow/dialogue.h"
#include "trainwire/flow/lockstep.h"
#include "trainwire/flow/logged_tempo.h"
#include "trainwire/flow/mesh.h"
#include "trainwire/flow/one_side.h"
#include "trainwire/flow/ring_rounds.h"
#include "trainwire/flow/start_phase.h"
#include "trainwire/flow/steady.h"
#include "trainwire/flow/tempo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace tw::flow {
namespace {

constexpr double kLeastDominance = 0.6;
constexpr double kLeastRatio = 1.15;
constexpr double kClearDominance = 0.75;  ///< for steps whose strategy is unknown
constexpr double kClearRatio = 2;
constexpr std::size_t kFewestSteps = 3;
constexpr double kHighestScore = 2;  ///< of a hypothesis that explains all bytes and fits perfectly
constexpr double kMostOfPair = 0.7;  ///< bytes in one flow of a pair that has no stripes
constexpr double kAlike = 0.04;      ///< how far lanes that send the same may differ
constexpr double kClearLead = 5.9;   ///< of the best explanation: the next is not worth a word
constexpr double kMostEarly = 0.1;   ///< of the steps: clocks and numbers of beats may be off
/// What everybody at least sends and receives, in parts of the mean. Each gives its own part away
/// and gets the result. What a mean host carries for others beside its own is at most twice that in
/// trees, and log2(N) times in recursive doubling.
constexpr double kLeastMutual = 0.2;
constexpr double kWorthUnknown = 0.1;    ///< of steps of which nobody knows what they do
constexpr double kMostBroken = 0.5;      ///< of a ring's steps: these are no steps of a ring
constexpr double kLeastExplained = 0.6;  ///< of all bytes: with less, hosts may exchange by chance
constexpr double kMostOfBytes = 0.5;     ///< that a job's hosts send and receive
constexpr std::size_t kManySteps = 10;   ///< that lanes do not share by chance

/// What holds for all attempts.
struct Setting {
  std::int64_t gap_ns;           ///< that separates bursts
  std::optional<int> only_host;  ///< whose packets alone there are
};

struct Hypothesis {
  Exchanges exchanges;
  std::optional<Recognition> recognition;
  double score;
  std::optional<Alternative> alternative = {};
  std::optional<std::string> why_not = {};  ///< it is no training, although it repeats
};

/// Steps at even distances whose pauses stand out.
bool is_periodic(const Exchanges& exchanges) {
  return exchanges.steps.size() >= kFewestSteps && exchanges.tempo.dominance >= kLeastDominance &&
         exchanges.tempo.ratio >= kLeastRatio;
}

/// The least that a host sends or receives, in parts of what a mean host does.
double mutual_share(const Exchanges& exchanges) {
  const std::vector<int> hosts = hosts_of(exchanges);
  double all = 0;
  for (const PairBytes& pair : pair_bytes(exchanges)) all += pair.bytes;
  double least = all;
  for (const int host : hosts) {
    const OwnBytes own = own_bytes(exchanges, host);
    least = std::min({least, own.sent, own.received});
  }
  return all > 0 ? least * static_cast<double>(hosts.size()) / all : 0;
}

/// Whose pauses leave no doubt that it repeats. Of two hosts only what both give alike: else
/// anything between them would count.
bool is_clearly_periodic(const Exchanges& exchanges) {
  return is_periodic(exchanges) && exchanges.tempo.dominance >= kClearDominance &&
         exchanges.tempo.ratio >= kClearRatio && exchanges.steps.size() >= 2 * kFewestSteps &&
         (hosts_of(exchanges).size() >= 3 || mutual_share(exchanges) >= 1 - kAlike);
}

/// Equal bytes in from one host and out to another are a pattern as well, if not a whole one.
bool is_part_of_ring(const Exchanges& exchanges, const Setting& setting) {
  return setting.only_host && ring_edge(exchanges, *setting.only_host).has_value() &&
         exchanges.steps.size() >= 2 * kFewestSteps;
}

/// Why the exchanges are no all-reduce of any strategy: what they lack of what all of these have by
/// definition. Nothing when they could be one.
std::optional<std::string> why_no_all_reduce(const Exchanges& exchanges, const Setting& setting) {
  if (setting.only_host) {
    if (gives_and_takes(exchanges, *setting.only_host)) return std::nullopt;
    return "the one host that all of it goes through does not give as much as it takes, or only "
           "passes it on";
  }
  if (mutual_share(exchanges) < kLeastMutual) {
    return "some of them hardly send or hardly receive, where every rank of a job gives and takes";
  }
  if (early_share(exchanges) > kMostEarly) {
    return "some are done before others have begun, where every rank of a job waits for all others";
  }
  return std::nullopt;
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

/// Whether the exchanges are more than a few lanes of many that repeat together by chance: most of
/// what their hosts send and receive, or many steps.
bool is_shown(const Exchanges& exchanges, std::span<const Channel> channels) {
  if (exchanges.steps.size() >= kManySteps) return true;
  const std::vector<int> hosts = hosts_of(exchanges);
  const auto takes_part = [&](int host) {
    return std::binary_search(hosts.begin(), hosts.end(), host);
  };
  double all = 0;
  for (const Channel& channel : channels) {
    if (takes_part(channel.from) || takes_part(channel.to)) {
      all += static_cast<double>(channel.bytes);
    }
  }
  return bytes_in(exchanges) >= kMostOfBytes * all;
}

/// Recognises the exchanges, or those of their lanes that send the same, to which it then reduces
/// them: steady traffic of another kind fits every tempo, but does not send what the others send.
std::optional<Recognition> recognise_most(Exchanges& exchanges, std::span<const Channel> channels) {
  std::optional<Recognition> found = recognise(exchanges, channels);
  if (found) return found;
  Exchanges alike = only(exchanges, most_common(exchanges));
  found = recognise(alike, channels);
  if (found) exchanges = std::move(alike);
  return found;
}

/// Whether the beats of a ring are whole, whatever number of them the rounds suggest.
bool are_whole(const Exchanges& ring, const RingRounds& rounds, std::span<const Channel> channels) {
  const double times = rounds.beats > 1 ? rounds.beats : rounds.other_beats;
  return times > 1 && are_whole(ring, channels, times);
}

/// Forgets what the pauses alone suggested, of which the rounds of a ring tell more, unless it is
/// that the steps are buckets.
void forget_pauses(std::optional<Alternative>& alternative) {
  if (alternative && !alternative->are_buckets) alternative.reset();
}

/// Makes the beats of a ring whole steps, where they are rounds.
void take_whole_steps(Hypothesis& ring, const Tempo& tempo, std::span<const Channel> channels,
                      std::int64_t gap_ns) {
  const RingRounds rounds = ring_rounds(ring.exchanges, channels, gap_ns);
  if (are_whole(ring.exchanges, rounds, channels)) {
    forget_pauses(ring.alternative);
    return;
  }
  const auto take = [&](std::optional<Exchanges> steps) {
    std::optional<Recognition> found = steps ? recognise(*steps, channels) : std::nullopt;
    if (!found || found->strategy != "ring") return false;
    ring.exchanges = std::move(*steps);
    ring.recognition = std::move(found);
    return true;
  };
  Tempo steps = tempo;
  bool has_changed = false;
  if (rounds.beats > 1) {
    std::vector<ChannelDistance> distances;
    for (const Lane& lane : ring.exchanges.lanes) distances.push_back({lane.channel, rounds.bytes});
    if (std::optional<Tempo> slower = tempo_at(channels, distances, gap_ns)) {
      steps = std::move(*slower);
      has_changed = take(align(steps, channels));
    }
  } else if (take(ring_steps(tempo, channels, static_cast<int>(ring.recognition->order.size())))) {
    return;
  }
  if (auto moved = with_start_phases(steps, ring.exchanges, channels, gap_ns)) {
    take(align(std::move(*moved), channels));
  }
  if (rounds.beats > 1 && !has_changed) return;
  forget_pauses(ring.alternative);
  if (has_changed) ring.alternative.reset();
  if (rounds.other_beats != rounds.beats && rounds.lead < kClearLead) {
    ring.alternative = {.steps = rounds.beats / rounds.other_beats,
                        .probability = 1 / (1 + std::exp(rounds.lead / 2))};
  }
}

/// Whether what was recognised is only how one host's side of anything looks: a star around it.
bool is_hidden(const Exchanges& exchanges, const Recognition& found, const Setting& setting) {
  return setting.only_host && found.strategy != "ring" &&
         !only_answers(exchanges, *setting.only_host);
}

/// What the exchanges are, where what is recognised in them is true of them.
void recognise_steps(Hypothesis& result, const Tempo& tempo, std::span<const Channel> channels,
                     const Setting& setting) {
  result.recognition = recognise_most(result.exchanges, channels);
  if (!result.recognition) return;
  if (result.recognition->strategy == "ring") {
    take_whole_steps(result, tempo, channels, setting.gap_ns);
    const double broken = broken_share(result.exchanges);
    result.recognition->fit *= 1 - broken;
    // Of two hosts that take turns one only answers: that is no ring, whatever it is.
    const bool are_two = result.recognition->order.size() == 2;
    if ((are_two ? broken : early_share(result.exchanges)) > kMostBroken) {
      result.recognition.reset();
    }
  } else if (is_hidden(result.exchanges, *result.recognition, setting)) {
    result.recognition.reset();
  }
  if (!is_shown(result.exchanges, channels)) result.recognition.reset();
}

/// Whether nothing speaks for training but that it repeats: also where all send each other the
/// same, as members of any group do.
bool is_any_kind(const std::optional<Recognition>& found) {
  return !found || found->operation == "all_to_all" || found->strategy == "clique";
}

/// What the exchanges at this tempo are; nothing when they are no steps.
std::optional<Hypothesis> hypothesis(const Tempo& tempo, std::span<const Channel> channels,
                                     const Setting& setting) {
  Hypothesis result{.exchanges = align(tempo, channels),
                    .recognition = {},
                    .score = 0,
                    .alternative = tempo.alternative};
  if (!is_periodic(result.exchanges)) return std::nullopt;
  recognise_steps(result, tempo, channels, setting);
  if (is_any_kind(result.recognition) && is_clocked(result.exchanges)) {
    result.recognition.reset();
    result.why_not =
        "it keeps to a clock, where a step of a job begins when the one before has ended";
    return result;
  }
  if (!result.recognition && !is_clearly_periodic(result.exchanges) &&
      !is_part_of_ring(result.exchanges, setting)) {
    return std::nullopt;
  }
  if (!result.recognition) result.why_not = why_no_all_reduce(result.exchanges, setting);
  return result;
}

/// Of the bytes that a hypothesis explains. One host's side of a strategy is as good as a poor fit
/// of the whole one where its pauses are clear.
double worth(const Hypothesis& found, const Setting& setting) {
  if (found.recognition) return 1 + found.recognition->fit;
  if (!setting.only_host) return kWorthUnknown;
  return is_clearly_periodic(found.exchanges) ? 1 : 0.5;
}

/// What channels were tried and what they gave.
struct Attempt {
  std::vector<Channel> channels = {};
  std::optional<Tempo> first = {};  ///< of most bytes
  std::optional<Hypothesis> best = {};
  std::optional<Repetition> repetition = {};  ///< of most bytes that is no training

  bool is_recognised() const { return best && best->recognition; }
  double score() const { return best ? best->score : 0; }
  /// Share of all bytes that are in recognised exchanges.
  double explained() const {
    if (!is_recognised()) return 0;
    double all = 0;
    for (const Channel& channel : channels) all += static_cast<double>(channel.bytes);
    return all > 0 ? bytes_in(best->exchanges) / all : 0;
  }
};

Repetition repetition_of(const Hypothesis& found) {
  return {.period_ns = found.exchanges.tempo.period_ns,
          .hosts = hosts_of(found.exchanges),
          .why_not = *found.why_not};
}

/// The best hypothesis of all tempos; those of fewer bytes than could beat it are not looked for.
Attempt attempt(std::vector<Channel> channels, const Setting& setting) {
  Attempt result{.channels = std::move(channels)};
  Tempos tempos(result.channels, setting.gap_ns);
  const double all_bytes = tempos.rest_bytes();
  while (kHighestScore * tempos.rest_bytes() > result.score() * all_bytes) {
    std::optional<Tempo> tempo = tempos.next();
    if (!tempo) break;
    std::optional<Hypothesis> found = hypothesis(*tempo, result.channels, setting);
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
Attempt logged_attempt(const StepLog& log, std::vector<Channel> channels, const Setting& setting) {
  if (std::optional<std::vector<Channel>> smooth = without_spacing(channels)) {
    channels = std::move(*smooth);
  }
  Attempt result{.channels = std::move(channels)};
  result.first = logged_tempo(log, result.channels, setting.gap_ns);
  if (!result.first) return result;
  Exchanges exchanges = align(*result.first, result.channels);
  std::optional<Recognition> found = recognise_most(exchanges, result.channels);
  if (found && is_hidden(exchanges, *found, setting)) return result;
  if (found) result.best = Hypothesis{std::move(exchanges), std::move(found), kHighestScore};
  return result;
}

/// The same without the spacing of slow links; where that gives nothing, they were small steps.
Attempt attempt_both(std::vector<Channel> channels, const Setting& setting) {
  std::optional<std::vector<Channel>> smooth = without_spacing(channels);
  if (!smooth) return attempt(std::move(channels), setting);
  Attempt result = attempt(std::move(*smooth), setting);
  if (result.is_recognised()) return result;
  Attempt other = attempt(std::move(channels), setting);
  return other.score() >= result.score() ? other : result;
}

/// How often the ring passes each of its edges: connections that carry the same, one for each time.
/// Nothing unless there are as many on all edges, and those of an edge carry bytes alike.
std::optional<int> passes_of(const Job& job, const Traffic& traffic) {
  std::map<std::pair<int, int>, std::vector<double>> edges;
  for (const Lane& lane : job.exchanges->lanes) {
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
void count_ranks(Job& job, const Traffic& traffic, const std::vector<int>& host_of) {
  if (!job.recognition || job.recognition->strategy != "ring") return;
  if (job.recognition->ranks_on_each > 1) return;
  const std::optional<int> passes = passes_of(job, traffic);
  if (!passes) return;
  const int ranks = ranks_by_mesh(traffic, host_of, job.recognition->order);
  if (ranks > 1 && *passes <= ranks) set_ranks_on_each(*job.recognition, ranks, *passes);
}

/// How the flows of a directed pair share its bytes.
struct PairShare {
  std::uint64_t bytes = 0;
  std::uint64_t largest = 0;  ///< of one flow
};

std::vector<PairShare> pair_shares(const std::vector<Channel>& flows) {
  std::map<std::pair<int, int>, PairShare> pairs;
  for (const Channel& flow : flows) {
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
void set_one_side(Job& job, const Setting& setting, const Traffic& traffic,
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
Attempt attempt_flows(const std::vector<Channel>& flows, const Setting& setting) {
  const std::vector<PairShare> pairs = pair_shares(flows);
  const auto by_pair = [&] { return attempt_both(pair_channels(flows, setting.gap_ns), setting); };
  const bool pairs_first = is_striped(pairs);
  Attempt best = pairs_first ? by_pair() : attempt_both(flows, setting);
  if (best.is_recognised() || pairs.size() == flows.size()) return best;
  Attempt other = pairs_first ? attempt_both(flows, setting) : by_pair();
  return other.score() > best.score() ? other : best;
}

/// The same without traffic that never pauses, where there is some.
void look_past_steady(Job& job, Attempt& best, const std::vector<Channel>& flows,
                      const Setting& setting) {
  std::optional<std::vector<Channel>> calm = without_steady(flows);
  if (!calm) return;
  Attempt other = attempt_flows(*calm, setting);
  if (other.is_recognised()) {
    best = std::move(other);
    return;
  }
  job.pulls = find_pulls(*calm, setting.gap_ns);
  job.channels = std::move(*calm);
}

std::string closest(const std::optional<Tempo>& best, std::size_t flows) {
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
    for (const Lane& lane : exchanges->lanes) add(lane.channel);
  }
  if (pulls) {
    for (const std::size_t channel : pulls->channels) add(channel);
  }
  return {flows.begin(), flows.end()};
}

Job find_job(const Traffic& traffic, const std::vector<int>& host_of,
             const std::optional<StepLog>& log) {
  const Setting setting{traffic.burst_gap_ns, only_witness(traffic, host_of)};
  const std::vector<Channel> flows = flow_channels(traffic, host_of);
  Job job;
  Attempt best;
  if (log) {
    const bool by_pair = is_striped(pair_shares(flows));
    best = logged_attempt(*log, by_pair ? pair_channels(flows, setting.gap_ns) : flows, setting);
  }
  job.from_log = best.is_recognised();
  if (!best.is_recognised()) {
    best = attempt_flows(flows, setting);
    job.looked_for = closest(best.first, flows.size());
  }
  if (best.explained() < kLeastExplained) job.pulls = find_pulls(flows, setting.gap_ns);
  if (!best.is_recognised() && !job.pulls) job.pulls = find_servings(flows);
  if (job.pulls) {
    job.channels = flows;
  }
  if (!best.is_recognised() && !job.pulls) look_past_steady(job, best, flows, setting);
  if (job.pulls) return job;
  job.channels = std::move(best.channels);
  job.repetition = std::move(best.repetition);
  if (best.best) {
    job.exchanges = std::move(best.best->exchanges);
    job.recognition = std::move(best.best->recognition);
    job.alternative = best.best->alternative;
    if (!job.recognition) set_one_side(job, setting, traffic, host_of);
  }
  count_ranks(job, traffic, host_of);
  return job;
}

}  // namespace tw::flow
