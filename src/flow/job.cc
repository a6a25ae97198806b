// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/job.h"

#include "trainwire/base/units.h"
#include "trainwire/flow/lockstep.h"
#include "trainwire/flow/logged_tempo.h"
#include "trainwire/flow/mesh.h"
#include "trainwire/flow/ring_rounds.h"
#include "trainwire/flow/start_phase.h"
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

struct Hypothesis {
  Exchanges exchanges;
  std::optional<Recognition> recognition;
  double score;
  std::optional<Alternative> alternative = {};
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

/// What the exchanges at this tempo are. `all_bytes` are those of all channels.
std::optional<Hypothesis> hypothesis(const Tempo& tempo, std::span<const Channel> channels,
                                     double all_bytes, std::int64_t gap_ns) {
  Hypothesis result{.exchanges = align(tempo, channels),
                    .recognition = {},
                    .score = 0,
                    .alternative = tempo.alternative};
  if (!is_periodic(result.exchanges)) return std::nullopt;
  result.recognition = recognise_most(result.exchanges, channels);
  if (result.recognition && result.recognition->strategy == "ring") {
    take_whole_steps(result, tempo, channels, gap_ns);
    result.recognition->fit *= 1 - broken_share(result.exchanges);
  }
  if (!result.recognition && !is_clearly_periodic(result.exchanges)) return std::nullopt;
  result.score = (result.recognition ? 1 + result.recognition->fit : 0.1) *
                 bytes_in(result.exchanges) / all_bytes;
  return result;
}

/// What channels were tried and what they gave.
struct Attempt {
  std::vector<Channel> channels = {};
  std::optional<Tempo> first = {};  ///< of most bytes
  std::optional<Hypothesis> best = {};

  bool is_recognised() const { return best && best->recognition; }
  double score() const { return best ? best->score : 0; }
};

/// The best hypothesis of all tempos; those of fewer bytes than could beat it are not looked for.
Attempt attempt(std::vector<Channel> channels, std::int64_t gap_ns) {
  Attempt result{.channels = std::move(channels)};
  Tempos tempos(result.channels, gap_ns);
  const double all_bytes = tempos.rest_bytes();
  while (kHighestScore * tempos.rest_bytes() > result.score() * all_bytes) {
    std::optional<Tempo> tempo = tempos.next();
    if (!tempo) break;
    std::optional<Hypothesis> found = hypothesis(*tempo, result.channels, all_bytes, gap_ns);
    if (found && found->score > result.score()) result.best = std::move(found);
    if (!result.first) result.first = std::move(tempo);
  }
  return result;
}

/// What the steps of the log are: no doubt about where they begin, only about what they do.
Attempt logged_attempt(const StepLog& log, std::vector<Channel> channels, std::int64_t gap_ns) {
  if (std::optional<std::vector<Channel>> smooth = without_spacing(channels)) {
    channels = std::move(*smooth);
  }
  Attempt result{.channels = std::move(channels)};
  result.first = logged_tempo(log, result.channels, gap_ns);
  if (!result.first) return result;
  Exchanges exchanges = align(*result.first, result.channels);
  std::optional<Recognition> found = recognise_most(exchanges, result.channels);
  if (found) result.best = Hypothesis{std::move(exchanges), std::move(found), kHighestScore};
  return result;
}

/// The same without the spacing of slow links; where that gives nothing, they were small steps.
Attempt attempt_both(std::vector<Channel> channels, std::int64_t gap_ns) {
  std::optional<std::vector<Channel>> smooth = without_spacing(channels);
  if (!smooth) return attempt(std::move(channels), gap_ns);
  Attempt result = attempt(std::move(*smooth), gap_ns);
  if (result.is_recognised()) return result;
  Attempt other = attempt(std::move(channels), gap_ns);
  return other.score() >= result.score() ? other : result;
}

bool uses_one_flow(const Lane& lane, std::span<const Channel> channels) {
  return channels[lane.channel].flows.size() == 1;
}

/// Ranks that share a host, where the exchange itself does not show them.
void count_ranks(Job& job, const Traffic& traffic, const std::vector<int>& host_of) {
  if (!job.recognition || job.recognition->strategy != "ring") return;
  if (job.recognition->ranks_on_each > 1) return;
  const bool is_plain =
      job.exchanges->lanes.size() == job.recognition->order.size() &&
      std::all_of(job.exchanges->lanes.begin(), job.exchanges->lanes.end(),
                  [&](const Lane& lane) { return uses_one_flow(lane, job.channels); });
  if (!is_plain) return;
  const int ranks = ranks_by_mesh(traffic, host_of, job.recognition->order);
  if (ranks > 1) set_ranks_on_each(*job.recognition, ranks);
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
  const std::int64_t gap_ns = traffic.burst_gap_ns;
  const std::vector<Channel> flows = flow_channels(traffic, host_of);
  const std::vector<PairShare> pairs = pair_shares(flows);
  Job job;
  const auto by_flow = [&] {
    Attempt result = attempt_both(flows, gap_ns);
    job.looked_for = closest(result.first, flows.size());
    return result;
  };
  const auto by_pair = [&] { return attempt_both(pair_channels(flows, gap_ns), gap_ns); };
  const bool pairs_first = is_striped(pairs);
  Attempt best;
  if (log) best = logged_attempt(*log, pairs_first ? pair_channels(flows, gap_ns) : flows, gap_ns);
  job.from_log = best.is_recognised();
  if (!best.is_recognised()) best = pairs_first ? by_pair() : by_flow();
  if (!best.is_recognised() && pairs.size() < flows.size()) {
    Attempt other = pairs_first ? by_flow() : by_pair();
    if (other.score() > best.score()) best = std::move(other);
  }
  if (!best.is_recognised()) job.pulls = find_pulls(flows, gap_ns);
  if (job.pulls) {
    job.channels = flows;
    return job;
  }
  job.channels = std::move(best.channels);
  if (best.best) {
    job.exchanges = std::move(best.best->exchanges);
    job.recognition = std::move(best.best->recognition);
    job.alternative = best.best->alternative;
  }
  count_ranks(job, traffic, host_of);
  return job;
}

}  // namespace tw::flow
