// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/strategies.h"
#include "trainwire/recognise/families.h"
#include "trainwire/recognise/likelihood.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace tw::recognise {
namespace {

constexpr double kPauseHalfway = 0.05;  ///< of the transfers: with fewer, none waits there
constexpr double kAtHalf = 0.01;        ///< of a beat: how far from its half a pause may be
constexpr double kNoChance = 2;         ///< times as many as pause there by chance
constexpr double kMostly = 0.5;         ///< the same: with more, it is no accident
constexpr double kVisibleNs = 4e6;      ///< exchanges this long would show a wait in the middle

/// Where beats pause inside: a clique sends half, waits for the others' halves, and sends the rest;
/// an all-to-all exchange has no reason to pause there.
struct Pauses {
  std::size_t beats = 0;
  std::size_t halfway = 0;  ///< beats with a pause after half of their bytes
  std::size_t all = 0;      ///< pauses

  double share() const {
    return static_cast<double>(halfway) / static_cast<double>(std::max<std::size_t>(1, beats));
  }
  /// Share of the beats that pause there where pauses are anywhere.
  double by_chance() const {
    const double each =
        static_cast<double>(all) / static_cast<double>(std::max<std::size_t>(1, beats));
    return 1 - std::exp(-2 * kAtHalf * each);
  }
};

Pauses pauses_inside(const rhythm::Steps& exchanges, std::span<const rhythm::Channel> channels) {
  Pauses result;
  for (const rhythm::Lane& lane : exchanges.lanes) {
    const std::vector<flow::Burst>& bursts = channels[lane.channel].bursts;
    for (const std::optional<rhythm::Beat>& beat : lane.beats) {
      if (!beat) continue;
      ++result.beats;
      double sum = 0;
      bool pauses_halfway = false;
      for (std::size_t i = beat->first_burst; i + 1 < beat->end_burst; ++i) {
        sum += static_cast<double>(bursts[i].bytes);
        const double part = sum / static_cast<double>(beat->bytes);
        pauses_halfway |= std::abs(part - 0.5) < kAtHalf;
        ++result.all;
      }
      result.halfway += pauses_halfway ? 1 : 0;
    }
  }
  return result;
}

}  // namespace

Offers as_complete(const Seen& seen) {
  const Pattern& pattern = seen.pattern;
  const double n = pattern.size();
  if (static_cast<double>(pattern.edges().size()) != n * (n - 1) ||
      !pattern.is_even(widest_difference())) {
    return {};
  }
  const double edge = pattern.total() / (n * (n - 1));
  const Pauses pauses = pauses_inside(seen.exchanges, seen.channels);
  const double share = pauses.share();
  const double even = std::max(kPauseHalfway, std::min(kMostly, kNoChance * pauses.by_chance()));
  // That nobody pauses tells nothing where the pause would be too short to be seen.
  const bool tells = share >= even || rhythm::typical_exchange_ns(seen.exchanges) > kVisibleNs;
  const double halfway = tells ? law(share, even, pauses.beats) / 2 : 0;
  Recognition clique{
      .operation = std::string(collective::name_of(collective::Operation::AllReduce)),
      .strategy = std::string(collective::strategy(collective::clique).name),
      .order = {},
      .servers = {},
      .starters = {},
      .payload = edge * n / 2,
      .evidence = fmt::format("all {} ordered pairs carry the same bytes", pattern.edges().size()),
      .nats = even_pairs(pattern, 0) + std::log(1 - kAssumed.all_to_all) + halfway};
  for (int place = 0; place < pattern.size(); ++place) {
    clique.order.push_back(pattern.host(place));
  }
  clique.starters = clique.order;
  clique.waits = share >= kMostly;
  Recognition all_to_all = clique;
  all_to_all.operation = collective::name_of(collective::Operation::AllToAll);
  all_to_all.strategy = "unknown";
  all_to_all.payload = edge * n;
  all_to_all.nats = even_pairs(pattern, 0) + std::log(kAssumed.all_to_all) - halfway;
  all_to_all.evidence += "; hardly any waits halfway, as a clique all-reduce would";
  clique.evidence += tells
                         ? fmt::format("; {} of {} transfers pause halfway for the others' halves",
                                       pauses.halfway, pauses.beats)
                         : "; an all-to-all exchange would look the same: clique is a guess";
  return {clique, all_to_all};
}

}  // namespace tw::recognise
