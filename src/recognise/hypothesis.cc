// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/hypothesis.h"

#include "trainwire/recognise/likelihood.h"
#include "trainwire/recognise/no_training.h"
#include "trainwire/recognise/one_side.h"
#include "trainwire/recognise/sharded.h"
#include "trainwire/rhythm/lockstep.h"
#include "trainwire/rhythm/ring_rounds.h"
#include "trainwire/rhythm/start_phase.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace tw::recognise {
namespace {

constexpr double kLeastRatio = 1.15;
constexpr double kClearDominance = 0.75;  ///< for steps whose strategy is unknown
constexpr double kClearRatio = 2;
constexpr std::size_t kFewestSteps = 3;
constexpr double kAlike = 0.04;     ///< how far lanes that send the same may differ
constexpr double kClearLead = 5.9;  ///< of the best explanation: the next is not worth a word
constexpr double kMostEarly = 0.1;  ///< of the steps: clocks and numbers of beats may be off
/// What everybody at least sends and receives, in parts of the mean. Each gives its own part away
/// and gets the result. What a mean host carries for others beside its own is at most twice that in
/// trees, and log2(N) times in recursive doubling.
constexpr double kLeastMutual = 0.2;
constexpr double kWorthUnknown = 0.1;   ///< of steps of which nobody knows what they do
constexpr double kMostBroken = 0.5;     ///< of a ring's steps: these are no steps of a ring
constexpr double kMostAlone = 0.9;      ///< of a ring's bytes, sent while no other link is busy
constexpr double kMostOfBytes = 0.5;    ///< that a job's hosts send and receive
constexpr std::size_t kManySteps = 10;  ///< that lanes do not share by chance

/// Steps at even distances whose pauses stand out, or that are alike inside, or that have all bytes in equal amounts.
bool is_periodic(const rhythm::Steps& exchanges) {
  const bool stands_out =
      exchanges.tempo.dominance >= kLeastDominance && exchanges.tempo.ratio >= kLeastRatio;
  return exchanges.steps.size() >= kFewestSteps &&
         (stands_out || exchanges.tempo.is_exact ||
          exchanges.tempo.likeness >= rhythm::kLeastLikeness);
}

/// The least that a host sends or receives, in parts of what a mean host does.
double mutual_share(const rhythm::Steps& exchanges) {
  std::map<int, OwnBytes> by_host;
  double all = 0;
  for (const rhythm::Lane& lane : exchanges.lanes) {
    const auto bytes = static_cast<double>(lane.bytes);
    by_host[lane.from].sent += bytes;
    by_host[lane.to].received += bytes;
    all += bytes;
  }
  double least = all;
  for (const auto& [host, own] : by_host) least = std::min({least, own.sent, own.received});
  return all > 0 ? least * static_cast<double>(by_host.size()) / all : 0;
}

/// Whose pauses leave no doubt that it repeats. Of two hosts only what both give alike: else
/// anything between them would count.
bool is_clearly_periodic(const rhythm::Steps& exchanges) {
  return is_periodic(exchanges) && exchanges.tempo.dominance >= kClearDominance &&
         exchanges.tempo.ratio >= kClearRatio && exchanges.steps.size() >= 2 * kFewestSteps &&
         (rhythm::hosts_of(exchanges).size() >= 3 || mutual_share(exchanges) >= 1 - kAlike);
}

/// Equal bytes in from one host and out to another are a pattern as well, if not a whole one.
bool is_part_of_ring(const rhythm::Steps& exchanges, const Circumstances& setting) {
  return setting.only_host && ring_edge(exchanges, *setting.only_host).has_value() &&
         exchanges.steps.size() >= 2 * kFewestSteps;
}

/// Why the exchanges are no all-reduce of any strategy: what they lack of what all of these have by
/// definition. Nothing when they could be one.
std::optional<std::string> why_no_all_reduce(const rhythm::Steps& exchanges,
                                             const Circumstances& setting) {
  if (setting.only_host) {
    if (gives_and_takes(exchanges, *setting.only_host)) return std::nullopt;
    return "the one host that all of it goes through does not give as much as it takes, or only "
           "passes it on";
  }
  if (mutual_share(exchanges) < kLeastMutual) {
    return "some of them hardly send or hardly receive, where every rank of a job gives and takes";
  }
  if (rhythm::early_share(exchanges) > kMostEarly) {
    return "some are done before others have begun, where every rank of a job waits for all others";
  }
  return std::nullopt;
}

/// Which lanes send what most lanes send.
std::vector<bool> most_common(const rhythm::Steps& exchanges) {
  const auto bytes_of = [](const rhythm::Lane& lane) { return static_cast<double>(lane.bytes); };
  std::vector<double> sorted;
  for (const rhythm::Lane& lane : exchanges.lanes) sorted.push_back(bytes_of(lane));
  std::sort(sorted.begin(), sorted.end());
  const auto within = [&](double bytes) {
    return std::pair(std::lower_bound(sorted.begin(), sorted.end(), (1 - kAlike) * bytes),
                     std::upper_bound(sorted.begin(), sorted.end(), bytes / (1 - kAlike)));
  };
  double common = 0;
  std::ptrdiff_t most = 0;
  for (const rhythm::Lane& lane : exchanges.lanes) {
    const auto [low, high] = within(bytes_of(lane));
    if (high - low <= most) continue;
    most = high - low;
    common = bytes_of(lane);
  }
  std::vector<bool> alike;
  for (const rhythm::Lane& lane : exchanges.lanes) {
    const double low = std::min(common, bytes_of(lane));
    alike.push_back(low >= (1 - kAlike) * std::max(common, bytes_of(lane)));
  }
  return alike;
}

/// Whether the exchanges are more than a few lanes of many that repeat together by chance: most of
/// what their hosts send and receive, or many steps. Two of several hosts share these wherever one
/// answers the other.
bool is_shown(const rhythm::Steps& exchanges, std::span<const rhythm::Channel> channels) {
  const std::vector<int> hosts = rhythm::hosts_of(exchanges);
  if (exchanges.steps.size() >= kManySteps && hosts.size() > 2) return true;
  const auto takes_part = [&](int host) {
    return std::binary_search(hosts.begin(), hosts.end(), host);
  };
  double all = 0;
  for (const rhythm::Channel& channel : channels) {
    if (takes_part(channel.from) || takes_part(channel.to)) {
      all += static_cast<double>(channel.bytes);
    }
  }
  return bytes_in(exchanges) >= kMostOfBytes * all;
}

/// Whether the beats of a ring are whole, whatever number of them the rounds suggest.
bool are_whole(const rhythm::Steps& ring, const rhythm::RingRounds& rounds,
               std::span<const rhythm::Channel> channels) {
  const double times = rounds.beats > 1 ? rounds.beats : rounds.other_beats;
  return times > 1 && rhythm::are_whole(ring, channels, times);
}

/// Forgets what the pauses alone suggested, of which the rounds of a ring tell more, unless it is
/// that the steps are buckets.
void forget_pauses(std::optional<rhythm::Alternative>& alternative) {
  if (alternative && !alternative->are_buckets) alternative.reset();
}

/// Makes the beats of a ring whole steps, where they are rounds.
void take_whole_steps(Hypothesis& ring, const rhythm::Tempo& tempo,
                      std::span<const rhythm::Channel> channels, const Circumstances& setting) {
  const std::int64_t gap_ns = setting.gap_ns;
  const rhythm::RingRounds rounds = rhythm::ring_rounds(ring.exchanges, channels, gap_ns);
  if (are_whole(ring.exchanges, rounds, channels)) {
    forget_pauses(ring.alternative);
    return;
  }
  const auto take = [&](std::optional<rhythm::Steps> steps) {
    std::optional<Recognition> found =
        steps ? recognise(*steps, channels, setting.views) : std::nullopt;
    if (!found || !is_ring(*found)) return false;
    ring.exchanges = std::move(*steps);
    ring.recognition = std::move(found);
    return true;
  };
  rhythm::Tempo steps = tempo;
  bool has_changed = false;
  if (rounds.beats > 1) {
    std::vector<rhythm::ChannelDistance> distances;
    for (const rhythm::Lane& lane : ring.exchanges.lanes)
      distances.push_back({lane.channel, rounds.bytes});
    if (std::optional<rhythm::Tempo> slower = rhythm::tempo_at(channels, distances, gap_ns)) {
      steps = std::move(*slower);
      has_changed = take(rhythm::align(steps, channels));
    }
  } else if (take(rhythm::ring_steps(tempo, channels,
                                     static_cast<int>(ring.recognition->order.size())))) {
    return;
  }
  if (auto moved = rhythm::with_start_phases(steps, ring.exchanges, channels, gap_ns)) {
    take(rhythm::align(std::move(*moved), channels));
  }
  if (rounds.beats > 1 && !has_changed) return;
  forget_pauses(ring.alternative);
  if (has_changed) ring.alternative.reset();
  if (rounds.other_beats != rounds.beats && rounds.lead < kClearLead) {
    ring.alternative = {.steps = rounds.beats / rounds.other_beats,
                        .probability = 1 / (1 + std::exp(rounds.lead / 2))};
  }
}

/// Between two hosts the model that one sends the other before the first step is as large as a step: where somebody who was seen to begin sends nothing,
/// it is none.
void drop_start_of_pair(rhythm::Steps& pair, std::span<const rhythm::Channel> channels) {
  const bool is_one_sided =
      std::any_of(pair.lanes.begin(), pair.lanes.end(), [&](const rhythm::Lane& lane) {
        return !lane.beats.front() && channels[lane.channel].saw_all_begin;
      });
  if (!is_one_sided || pair.steps.size() <= kFewestSteps) return;
  pair.steps.erase(pair.steps.begin());
  for (rhythm::Lane& lane : pair.lanes) lane.beats.erase(lane.beats.begin());
}

constexpr const char* kSharded = "all_gather";  ///< and reduce_scatter
constexpr double kNearlyHalf = 0.49;  ///< of a step is scattered where nothing is gathered twice

/// Whether the steps of a ring are made of half-collectives.
void look_for_shards(Hypothesis& ring, std::span<const rhythm::Channel> channels) {
  Recognition& found = *ring.recognition;
  if (found.ranks_on_each > 1) return;
  const std::optional<Shards> shards = find_shards(ring.exchanges, channels);
  if (!shards && found.order.size() < 3) return;  // its bytes are a guess already
  if (!shards || !shards->is_clear()) {
    // Each layer gathered twice and scattered once are three halves of an all-reduce.
    yield_to(found, {.operation = kSharded,
                     .strategy = found.strategy,
                     .ranks_on_each = 1,
                     .payload = 2 * found.payload * (shards ? shards->model : 1.0 / 3),
                     .probability = shards ? std::max(kAssumed.threes, shards->probability)
                                           : kAssumed.threes});
    return;
  }
  const double half = 2 * found.payload;  // what all half-collectives of a step move
  const std::optional<double>& other_model = shards->other.model;
  const RunnerUp other{.operation = other_model ? kSharded : found.operation,
                       .strategy = found.strategy,
                       .ranks_on_each = 1,
                       .payload = other_model ? half * *other_model : found.payload,
                       .probability = std::max(kAssumed.threes, shards->other.probability)};
  found.sharding = {.gathered = half * (1 - shards->model), .scattered = half * shards->model};
  found.payload = half * shards->model;
  yield_to(found, other);
  const bool is_kept = shards->model > kNearlyHalf;
  found.evidence += fmt::format(
      "; a step is made of {} collectives, whose sizes come in {}, as layers are gathered {} and "
      "their gradients scattered once",
      shards->collectives, is_kept ? "pairs" : "threes", is_kept ? "once" : "twice");
}

/// Whether two hosts of several are taken for a ring: one host's side of anything has such pairs.
bool is_pair_of_many(const Recognition& found, std::span<const rhythm::Channel> channels) {
  return is_ring(found) && found.order.size() == 2 &&
         std::any_of(channels.begin(), channels.end(), [&](const rhythm::Channel& channel) {
           return std::count(found.order.begin(), found.order.end(), channel.from) == 0 ||
                  std::count(found.order.begin(), found.order.end(), channel.to) == 0;
         });
}

/// What the exchanges are, where what is recognised in them is true of them.
void recognise_steps(Hypothesis& result, const rhythm::Tempo& tempo,
                     std::span<const rhythm::Channel> channels, const Circumstances& setting) {
  result.recognition = recognise_most(result.exchanges, channels, setting.views);
  if (!result.recognition) return;
  if (is_ring(*result.recognition)) {
    take_whole_steps(result, tempo, channels, setting);
    const double broken = rhythm::broken_share(result.exchanges);
    result.recognition->fit *= 1 - broken;
    // Of two hosts that take turns one only answers: that is no ring, whatever it is.
    const bool are_two = result.recognition->order.size() == 2;
    if (are_two) drop_start_of_pair(result.exchanges, channels);
    if ((are_two ? broken : rhythm::early_share(result.exchanges)) > kMostBroken ||
        (!are_two && rhythm::alone_share(result.exchanges, channels) > kMostAlone)) {
      result.recognition.reset();
    }
  } else if (is_hidden(result.exchanges, *result.recognition, setting)) {
    result.recognition.reset();
  }
  if (!is_shown(result.exchanges, channels)) result.recognition.reset();
  if (result.recognition && setting.only_host && is_pair_of_many(*result.recognition, channels)) {
    result.recognition.reset();
  }
  if (result.recognition && is_ring(*result.recognition)) look_for_shards(result, channels);
}

/// Lets what is no training compete with what was found.
void doubt(Hypothesis& result, const Circumstances& setting) {
  const Doubt doubt =
      no_training(result.exchanges, result.recognition, setting.only_host.has_value());
  if (doubt.probability > 0.5) {
    result.recognition.reset();
    result.why_not = doubt.why;
    result.begins_otherwise = doubt.begins_otherwise;
    return;
  }
  result.doubt = doubt.probability;
  if (!result.recognition) return;
  yield_to(*result.recognition, {.operation = kRequestAnswer,
                                 .strategy = "unknown",
                                 .ranks_on_each = 1,
                                 .payload = result.recognition->payload,
                                 .probability = doubt.probability});
}

}  // namespace

double bytes_in(const rhythm::Steps& exchanges) {
  double sum = 0;
  for (const rhythm::ExchangeStep& step : exchanges.steps) sum += static_cast<double>(step.bytes);
  return sum;
}

std::optional<Recognition> recognise_most(rhythm::Steps& exchanges,
                                          std::span<const rhythm::Channel> channels, Views views) {
  std::optional<Recognition> found = recognise(exchanges, channels, views);
  if (found) return found;
  rhythm::Steps alike = rhythm::only(exchanges, most_common(exchanges));
  found = recognise(alike, channels, views);
  if (found) exchanges = std::move(alike);
  return found;
}

bool is_hidden(const rhythm::Steps& exchanges, const Recognition& found,
               const Circumstances& setting) {
  return setting.only_host && !is_ring(found) && !only_answers(exchanges, *setting.only_host);
}

std::optional<Hypothesis> hypothesis(const rhythm::Tempo& tempo,
                                     std::span<const rhythm::Channel> channels,
                                     const Circumstances& setting) {
  Hypothesis result{.exchanges = rhythm::align(tempo, channels),
                    .recognition = {},
                    .score = 0,
                    .alternative = tempo.alternative};
  if (!is_periodic(result.exchanges)) return std::nullopt;
  recognise_steps(result, tempo, channels, setting);
  if (!result.recognition && !is_clearly_periodic(result.exchanges) &&
      !is_part_of_ring(result.exchanges, setting)) {
    return std::nullopt;
  }
  if (!result.recognition) result.why_not = why_no_all_reduce(result.exchanges, setting);
  if (!result.why_not) doubt(result, setting);
  return result;
}

double worth(const Hypothesis& found, const Circumstances& setting) {
  if (found.recognition) return 1 + found.recognition->fit;
  if (!setting.only_host) return kWorthUnknown;
  return is_clearly_periodic(found.exchanges) ? 1 : 0.5;
}

}  // namespace tw::recognise
