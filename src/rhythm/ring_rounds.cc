// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/ring_rounds.h"

#include "trainwire/rhythm/rhythm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tw::rhythm {
namespace {

constexpr int kMostCuts = 4;  ///< parts into which a library cuts a round
constexpr std::size_t kMostSenders = 32;
constexpr std::size_t kMostBursts = 4'000;  ///< of a sender: its steps show there as well as in all
constexpr int kMostHosts = 64;              ///< larger rings have too many rounds to try
constexpr double kLeastCoverage = 0.85;     ///< of a sender's bytes, by its rounds
constexpr double kMostlyVisible = 0.6;      ///< share of rounds with a pause of their own
constexpr double kLeastDominance = 0.6;     ///< of the pauses between rounds over those inside
constexpr double kLeastRatio = 1.15;
constexpr double kFewestSteps = 5;  ///< fewer repeat many things by accident
constexpr double kClearLead = 6;    ///< of the criterion: odds of 20
constexpr double kSmallestVariance = 1e-4;
constexpr double kSameLength = 0.005;  ///< logarithms of pauses: half a per cent

/// Pauses less what is explained of them, and how many means that took.
struct Explained {
  std::vector<double> rest;
  double means;

  double criterion() const {
    const auto n = static_cast<double>(rest.size());
    double squares = 0;
    for (const double value : rest) squares += value * value;
    return n * std::log(squares / n + kSmallestVariance) + means * std::log(n);
  }
};

Explained by_place(std::span<const double> pauses, std::size_t rounds) {
  std::vector<double> sums(rounds, 0);
  std::vector<double> counts(rounds, 0);
  for (std::size_t i = 0; i < pauses.size(); ++i) {
    sums[i % rounds] += pauses[i];
    ++counts[i % rounds];
  }
  Explained result{{pauses.begin(), pauses.end()}, static_cast<double>(rounds)};
  for (std::size_t i = 0; i < pauses.size(); ++i) {
    result.rest[i] -= sums[i % rounds] / counts[i % rounds];
  }
  return result;
}

/// The criterion with one more mean, for the longer pauses at one place of a step, which may be
/// any.
double with_one_longer(const Explained& explained, std::size_t rounds) {
  const auto n = static_cast<double>(explained.rest.size());
  double squares = 0;
  double all = 0;
  for (const double value : explained.rest) {
    squares += value * value;
    all += value;
  }
  double gain = 0;
  for (std::size_t place = 0; place < rounds; ++place) {
    double sum = 0;
    double count = 0;
    for (std::size_t i = place; i < explained.rest.size(); i += rounds, ++count) {
      sum += explained.rest[i];
    }
    const double rest = all - sum;
    if (sum / count <= rest / (n - count)) continue;
    gain = std::max(gain, sum * sum / count + rest * rest / (n - count) - all * all / n);
  }
  return n * std::log((squares - gain) / n + kSmallestVariance) +
         (explained.means + 1) * std::log(n) + 2 * std::log(static_cast<double>(rounds));
}

/// How often the pause at one place of the step is the longest of the step, against the chance of
/// that: the same criterion for a count. It hears what a sender that waits for many reasons drowns.
double by_longest(std::span<const double> pauses, std::size_t rounds) {
  std::vector<double> longest(rounds, 0);
  double steps = 0;
  for (std::size_t first = 0; first + rounds <= pauses.size(); first += rounds, ++steps) {
    const auto begin = pauses.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(rounds);
    const auto most = std::max_element(begin, end);
    // Pauses that are all alike single out none.
    const auto near = std::count_if(begin, end, [&](double p) { return p > *most - kSameLength; });
    if (*most > 0 && near < end - begin) ++longest[static_cast<std::size_t>(most - begin)];
  }
  const auto places = static_cast<double>(rounds);
  const double share = *std::max_element(longest.begin(), longest.end()) / steps;
  if (share <= 1 / places) return 0;
  double log_odds = share * std::log(share * places);
  if (share < 1) log_odds += (1 - share) * std::log((1 - share) / (1 - 1 / places));
  return std::log(steps) + 2 * std::log(places) - 2 * steps * log_odds;
}

/// Rounds in which a ring is done, where each is cut into so many parts.
std::size_t whole_step(int hosts, int cuts) {
  return static_cast<std::size_t>(2 * (hosts - 1) * cuts);
}

/// How many repetitions a step may have, rising: 2(N-1), each cut into some parts, or a divisor of
/// that, where so many rounds are sent without a pause.
std::vector<std::size_t> possible_steps(int hosts) {
  std::vector<std::size_t> result;
  for (std::size_t number = 1; number <= whole_step(hosts, kMostCuts); ++number) {
    for (int cuts = 1; cuts <= kMostCuts; ++cuts) {
      if (whole_step(hosts, cuts) % number != 0) continue;
      result.push_back(number);
      break;
    }
  }
  return result;
}

/// The channel with a bounded number of bursts, from the middle, where training is steady.
Channel middle_of(const Channel& channel) {
  if (channel.bursts.size() <= kMostBursts) return channel;
  const auto first = channel.bursts.begin() +
                     static_cast<std::ptrdiff_t>((channel.bursts.size() - kMostBursts) / 2);
  Channel part{.from = channel.from,
               .to = channel.to,
               .flows = channel.flows,
               .bursts = {first, first + kMostBursts},
               .bytes = 0};
  for (const flow::Burst& burst : part.bursts) part.bytes += burst.bytes;
  return part;
}

bool shows_rounds(const ByteStream& stream, double bytes) {
  const RhythmFit fit = stream.fit(bytes);
  double rounds = 0;
  for (const ChainLink& link : fit.links) rounds += link.distances;
  const RhythmFit::Comparison& found = fit.pauses;
  return fit.coverage >= kLeastCoverage && found.compared > 0 && found.ratio >= kLeastRatio &&
         static_cast<double>(fit.beats) >= kMostlyVisible * rounds &&
         static_cast<double>(found.dominant) >=
             kLeastDominance * static_cast<double>(found.compared);
}

/// The most rounds in a beat between which half of the senders pause.
std::size_t visible_rounds(const std::vector<ByteStream>& streams, double beat_bytes, int hosts) {
  const std::vector<std::size_t> possible = possible_steps(hosts);
  for (auto number = possible.rbegin(); *number > 1; ++number) {
    const std::size_t rounds = *number;
    const auto showing = std::count_if(streams.begin(), streams.end(), [&](const auto& stream) {
      return shows_rounds(stream, beat_bytes / static_cast<double>(rounds));
    });
    if (2 * static_cast<std::size_t>(showing) >= streams.size()) return rounds;
  }
  return 1;
}

/// Of each sender, logarithms of the pauses after every round, in table gaps.
std::vector<std::vector<double>> pauses_of(const std::vector<ByteStream>& streams, double bytes,
                                           std::int64_t gap_ns) {
  std::vector<std::vector<double>> result;
  for (const ByteStream& stream : streams) {
    std::vector<double> pauses = stream.pauses_at(stream.fit(bytes));
    for (double& pause : pauses) pause = std::log1p(pause / static_cast<double>(gap_ns));
    if (!pauses.empty()) result.push_back(std::move(pauses));
  }
  return result;
}

struct Choice {
  std::size_t rounds;
  double criterion;
};

/// For steps of so many rounds; what speaks against them in one sender is no argument, for it may
/// be one that sees nothing of the steps. Senders that agree may do so because all wait for the
/// same host: k of them count as the root of k. Infinite when the capture is too short.
double criterion_of(const std::vector<std::vector<double>>& senders, std::size_t rounds,
                    std::span<const std::size_t> parts) {
  if (rounds == 1) return 0;
  double sum = 0;
  double agreeing = 0;
  for (const std::vector<double>& pauses : senders) {
    if (static_cast<double>(pauses.size()) < kFewestSteps * static_cast<double>(rounds)) {
      return std::numeric_limits<double>::infinity();
    }
    const double criterion = repetition_criterion(pauses, rounds, parts);
    if (criterion >= 0) continue;
    sum += criterion;
    ++agreeing;
  }
  return agreeing > 0 ? sum / std::sqrt(agreeing) : 0;
}

/// All numbers of rounds that a step may have, the best first. `beat` are the rounds of a beat.
std::vector<Choice> choices(const std::vector<std::vector<double>>& senders, std::size_t beat,
                            int hosts) {
  std::vector<std::size_t> numbers = possible_steps(hosts);
  std::erase_if(numbers, [&](std::size_t rounds) { return rounds % beat != 0; });
  std::vector<Choice> result;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::vector<std::size_t> parts(numbers.begin(),
                                   numbers.begin() + static_cast<std::ptrdiff_t>(i));
    std::erase_if(parts, [&](std::size_t part) { return numbers[i] % part != 0; });
    double criterion = criterion_of(senders, numbers[i], parts);
    // The beats that are given need no further reason; rounds that nobody saw need two more.
    if (numbers[i] == beat) criterion -= kClearLead;
    if (numbers[i] != beat && numbers[i] % whole_step(hosts, 1) != 0) criterion += 2 * kClearLead;
    result.push_back({numbers[i], criterion});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Choice& a, const Choice& b) { return a.criterion < b.criterion; });
  return result;
}

}  // namespace

double repetition_criterion(std::span<const double> pauses, std::size_t rounds,
                            std::span<const std::size_t> parts) {
  const Explained nothing = by_place(pauses, 1);
  double best = by_place(pauses, rounds).criterion();
  best = std::min(best, with_one_longer(nothing, rounds));
  for (const std::size_t part : parts) {
    best = std::min(best, with_one_longer(by_place(pauses, part), rounds));
  }
  return std::min(best - nothing.criterion(), by_longest(pauses, rounds));
}

RingRounds ring_rounds(const Steps& ring, std::span<const Channel> channels, std::int64_t gap_ns) {
  const auto hosts = static_cast<int>(hosts_of(ring).size());
  RingRounds result{.bytes = static_cast<double>(ring.lanes.front().bytes)};
  if (hosts < 3 || hosts > kMostHosts) return result;
  std::vector<Channel> senders;
  for (const Lane& lane : ring.lanes) {
    if (senders.size() < kMostSenders) senders.push_back(middle_of(channels[lane.channel]));
  }
  std::vector<ByteStream> streams;
  for (const Channel& sender : senders) {
    streams.emplace_back(sender, std::span<const flow::Burst>(), gap_ns);
  }
  const std::size_t beat = visible_rounds(streams, result.bytes, hosts);
  const double round_bytes = result.bytes / static_cast<double>(beat);
  const std::vector<Choice> found = choices(pauses_of(streams, round_bytes, gap_ns), beat, hosts);
  const auto in_beats = [&](const Choice& choice) {
    return static_cast<double>(choice.rounds) / static_cast<double>(beat);
  };
  result.beats = in_beats(found.front());
  result.bytes *= result.beats;
  if (found.size() > 1 && std::isfinite(found[1].criterion)) {
    result.other_beats = in_beats(found[1]);
    result.lead = found[1].criterion - found[0].criterion;
  }
  return result;
}

}  // namespace tw::rhythm
