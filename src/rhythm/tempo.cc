// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/tempo.h"

#include "trainwire/base/parallel.h"
#include "trainwire/flow/bursts.h"
#include "trainwire/rhythm/lockstep.h"
#include "trainwire/rhythm/pace.h"
#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

namespace tw::rhythm {
namespace {

constexpr double kPopularityWorth = 0.2;  ///< of a distance that all channels have, in coverage
constexpr double kLeastShare = 0.03;      ///< of the largest channel: smaller ones follow, not lead
constexpr std::size_t kMostChannels = 4096;  ///< what they cost hangs on their bursts
constexpr std::size_t kMostTempos = 4;
constexpr std::size_t kMostRivals = 4;
// All candidates are tried on so much only; the rest is then fitted to the pace that was found.
constexpr std::size_t kMostTried = 32;           ///< channels
constexpr std::size_t kMostBurstsTried = 4'000;  ///< of each
constexpr std::size_t kFewestBeats = 3;
constexpr std::size_t kFewBeats = 8;    ///< one that takes long moves their mean
constexpr double kLeastCoverage = 0.3;  ///< of a channel by its beats
constexpr double kAboutTheSame = 0.03;  ///< how far a supposed distance may be off

class Search {
 public:
  Search(std::span<const Channel> channels, std::vector<std::size_t> chosen, std::int64_t gap_ns)
      : channels_(channels), chosen_(std::move(chosen)) {
    std::map<int, std::vector<flow::Burst>> received_by;
    for (const std::size_t i : chosen_) append_data(received_by[channels[i].to], channels[i]);
    for (auto& [host, bursts] : received_by) flow::sort_by_start(bursts);
    for (const std::size_t i : chosen_) {
      streams_.emplace_back(channels[i], received_by[channels[i].from], gap_ns);
      bytes_ += static_cast<double>(channels[i].bytes);
    }
  }

  /// Of all paces that the channels offer.
  std::optional<Pace> best_pace() {
    return best_pace([&](const Pace& pace, double times) {
      return are_whole(align(tempo_of(pace), channels_), channels_, times);
    });
  }
  std::optional<Pace> best_pace(const AreWhole& are_whole_beats) {
    collect_fits();
    std::vector<Pace> paces = group();
    for (Pace& pace : paces) complete(pace, distances_of(pace));
    std::optional<Pace> chosen = choose(paces, are_whole_beats);
    std::stable_sort(paces.begin(), paces.end(),
                     [](const Pace& a, const Pace& b) { return a.share > b.share; });
    if (paces.size() > kMostRivals) paces.resize(kMostRivals);
    rivals_ = std::move(paces);
    return chosen;
  }

  std::vector<Beat> beats_of(const Candidate& candidate) const {
    return streams_[candidate.channel].beats(candidate.fit);
  }

  /// Of the best pace.
  const std::vector<Pace>& rivals() const { return rivals_; }

  /// The pace of these channels at distances that others have.
  std::optional<Pace> pace_with(const std::vector<Distance>& distances) const {
    std::vector<std::optional<double>> found(streams_.size());
    in_parallel(streams_.size(), [&](std::size_t i) {
      double most = 0;
      for (const Distance& distance : distances) {
        const RhythmFit fit = streams_[i].fit(distance.bytes);
        if (!is_usable(fit) || (found[i] && merit(fit) <= most)) continue;
        most = merit(fit);
        found[i] = fit.period_ns;
      }
    });
    std::vector<double> periods;
    for (const std::optional<double>& period : found) {
      if (period) periods.push_back(*period);
    }
    if (periods.empty()) return std::nullopt;
    Pace pace{.period_ns = stats::median(std::move(periods)), .candidates = {}};
    complete(pace, distances);
    return pace;
  }

  /// The pace at which stream i sends about `distances[i]` in a beat.
  std::optional<Pace> pace_at_distances(std::span<const ChannelDistance> distances) const {
    Pace pace{.period_ns = 0, .candidates = {}};
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      std::optional<RhythmFit> fit = fit_about(streams_[i], distances[i].bytes);
      if (!fit) continue;
      pace.candidates.push_back({.channel = i, .fit = std::move(*fit)});
    }
    if (pace.candidates.empty()) return std::nullopt;
    pace.period_ns = pace.median_ns();
    complete(pace, distances_of(pace));
    return pace;
  }

  Tempo tempo_of(const Pace& pace) const {
    Tempo tempo{.period_ns = pace.period_ns,
                .share = pace.share,
                .dominance = 1,
                .ratio = 0,
                .members = {},
                .alternative = pace.alternative};
    tempo.likeness = prominence(pace).likeness;
    tempo.is_exact = pace.is_exact;
    std::vector<double> periods;
    for (const Candidate& candidate : pace.candidates) {
      const RhythmFit& fit = candidate.fit;
      tempo.members.push_back({.channel = chosen_[candidate.channel],
                               .bytes = static_cast<std::uint64_t>(std::llround(fit.bytes)),
                               .beats = streams_[candidate.channel].beats(fit)});
      periods.push_back(fit.period_ns);
    }
    const Prominence found = prominence(pace);
    if (found.compared > 0) {
      tempo.dominance = found.dominance;
      tempo.ratio = found.ratio;
    }
    tempo.period_ns = stats::median(std::move(periods));
    return tempo;
  }

 private:
  static void append_data(std::vector<flow::Burst>& result, const Channel& channel) {
    const std::uint64_t least = channel.bytes / (50 * channel.bursts.size() + 1);
    std::copy_if(channel.bursts.begin(), channel.bursts.end(), std::back_inserter(result),
                 [&](const flow::Burst& burst) { return burst.bytes > least; });
  }

  bool is_usable(const RhythmFit& fit) const {
    return fit.beats >= kFewestBeats && fit.coverage >= kLeastCoverage && fit.period_ns > 0;
  }

  std::optional<RhythmFit> fit_about(const ByteStream& stream, double bytes) const {
    std::vector<double> distances = stream.guess_distances();
    std::erase_if(distances, [&](double distance) {
      return std::abs(distance - bytes) > kAboutTheSame * bytes;
    });
    distances.push_back(bytes);
    std::optional<RhythmFit> best;
    for (const double distance : distances) {
      RhythmFit fit = stream.fit(distance);
      if (is_usable(fit) && (!best || merit(fit) > merit(*best))) best = std::move(fit);
    }
    for (const double distance : distances) {
      if (!best) best = stream.even_fit(distance);
    }
    return best;
  }

  void collect_fits() {
    std::vector<std::vector<Candidate>> found(streams_.size());
    in_parallel(streams_.size(), [&](std::size_t i) {
      for (const double distance : streams_[i].guess_distances()) {
        RhythmFit fit = streams_[i].fit(distance);
        if (is_usable(fit)) found[i].push_back({.channel = i, .fit = std::move(fit)});
      }
    });
    for (std::vector<Candidate>& of_channel : found) {
      std::move(of_channel.begin(), of_channel.end(), std::back_inserter(fits_));
    }
  }

  double weight(const Candidate& candidate) const {
    return candidate.fit.coverage * static_cast<double>(streams_[candidate.channel].bytes());
  }

  /// Of each channel the fit that covers most at that pace.
  Pace pace_at(double period_ns) const {
    std::vector<const Candidate*> best(streams_.size(), nullptr);
    for (const Candidate& candidate : fits_) {
      const Candidate*& known = best[candidate.channel];
      if (!same_pace(candidate.fit, period_ns)) continue;
      if (known == nullptr || merit(candidate.fit) > merit(known->fit)) known = &candidate;
    }
    Pace pace{.period_ns = period_ns, .candidates = {}};
    for (const Candidate* candidate : best) {
      if (candidate != nullptr) pace.candidates.push_back(*candidate);
    }
    return pace;
  }

  std::vector<Pace> group() const {
    std::vector<std::size_t> order(fits_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return weight(fits_[a]) > weight(fits_[b]);
    });
    std::vector<Pace> paces;
    for (const std::size_t i : order) {
      const double period = fits_[i].fit.period_ns;
      const bool is_known = std::any_of(paces.begin(), paces.end(), [&](const Pace& pace) {
        return same_pace(pace.period_ns, period);
      });
      if (!is_known) paces.push_back(pace_at(pace_at(period).median_ns()));
    }
    return paces;
  }

  /// Every channel tries the distances of the others too: in most strategies all send alike, and
  /// where few beats leave a choice, what several channels have in common is right.
  void complete(Pace& pace, const std::vector<Distance>& distances) const {
    // Few steps that take unlike times have no period in common, but begin and end together.
    const double whole_ns = pace.candidates.empty() ? 0 : pace.whole_ns();
    // Of more, who also sends the model before the first has another mean, but the same beats.
    const double typical_ns = pace.candidates.empty() ? 0 : pace.typical_ns();
    const auto keeps_pace = [&](const RhythmFit& fit) {
      return same_pace(fit, pace.period_ns) ||
             (fit.beats <= kFewBeats ? same_pace(fit.whole_ns, whole_ns)
                                     : same_pace(fit.typical_ns, typical_ns));
    };
    std::vector<std::optional<Candidate>> best(streams_.size());
    std::vector<double> merits(streams_.size(), 0);
    const auto offer = [&](std::size_t channel, RhythmFit fit, double popularity) {
      const double found = merit(fit) + kPopularityWorth * popularity;
      if (best[channel] && merits[channel] >= found) return;
      merits[channel] = found;
      best[channel] = {.channel = channel, .fit = std::move(fit)};
    };
    in_parallel(streams_.size(), [&](std::size_t i) {
      for (const Distance& distance : distances) {
        RhythmFit fit = streams_[i].fit(distance.bytes);
        if (!is_usable(fit) || !keeps_pace(fit)) continue;
        offer(i, std::move(fit), distance.popularity);
      }
    });
    for (Candidate& candidate : pace.candidates) offer(candidate.channel, candidate.fit, 0);
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      for (const Distance& distance : distances) {
        if (best[i]) break;
        std::optional<RhythmFit> even = streams_[i].even_fit(distance.bytes);
        if (even && same_pace(even->period_ns, pace.period_ns)) offer(i, std::move(*even), 0);
      }
    }
    pace.candidates.clear();
    for (std::optional<Candidate>& candidate : best) {
      if (!candidate) continue;
      pace.share += weight(*candidate) / bytes_;
      pace.candidates.push_back(std::move(*candidate));
    }
  }

  std::span<const Channel> channels_;
  std::vector<std::size_t> chosen_;
  std::vector<ByteStream> streams_;
  std::vector<Candidate> fits_;
  std::vector<Pace> rivals_;
  double bytes_ = 0;
};

/// The largest of the channels that are not taken.
std::vector<std::size_t> leaders(std::span<const Channel> channels,
                                 const std::vector<bool>& taken) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (!taken[i]) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return channels[a].bytes > channels[b].bytes;
  });
  const double largest = order.empty() ? 0 : static_cast<double>(channels[order.front()].bytes);
  while (!order.empty() &&
         (order.size() > kMostChannels ||
          static_cast<double>(channels[order.back()].bytes) < kLeastShare * largest)) {
    order.pop_back();
  }
  return order;
}

/// The largest of the channels, for as long as one of them has a bounded number of bursts, from the
/// middle, where training is steady. The pace shows there as well as in the whole.
std::vector<Channel> middle_part(std::span<const Channel> channels,
                                 const std::vector<std::size_t>& chosen) {
  std::vector<Channel> part;
  std::int64_t begin = std::numeric_limits<std::int64_t>::min();
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < std::min(chosen.size(), kMostTried); ++i) {
    const std::vector<flow::Burst>& bursts = channels[chosen[i]].bursts;
    part.push_back(channels[chosen[i]]);
    if (bursts.size() <= kMostBurstsTried) continue;
    const std::size_t first = (bursts.size() - kMostBurstsTried) / 2;
    begin = std::max(begin, bursts[first].start_ns);
    end = std::min(end, bursts[first + kMostBurstsTried].start_ns);
  }
  for (Channel& channel : part) {
    const std::size_t all = channel.bursts.size();
    std::erase_if(channel.bursts, [&](const flow::Burst& burst) {
      return burst.start_ns < begin || burst.start_ns >= end;
    });
    if (channel.bursts.size() == all) continue;
    channel.beginning = Beginning::Unknown;
    channel.bytes = 0;
    for (const flow::Burst& burst : channel.bursts) channel.bytes += burst.bytes;
  }
  std::erase_if(part, [](const Channel& channel) { return channel.bursts.empty(); });
  return part;
}

bool is_small(std::span<const Channel> channels, const std::vector<std::size_t>& chosen) {
  return chosen.size() <= kMostTried &&
         std::all_of(chosen.begin(), chosen.end(),
                     [&](std::size_t i) { return channels[i].bursts.size() <= kMostBurstsTried; });
}

/// The tempo of these channels, and how to get others.
struct Common {
  std::optional<Tempo> tempo = {};
  std::function<std::vector<Tempo>()> rivals = {};
};

Common common_tempo(std::span<const Channel> channels, const std::vector<std::size_t>& chosen,
                    std::int64_t gap_ns) {
  const auto search_of_all = std::make_shared<Search>(channels, chosen, gap_ns);
  Search& search = *search_of_all;
  std::optional<Pace> pace;
  std::vector<Pace> rivals;
  if (is_small(channels, chosen)) {
    pace = search.best_pace();
    rivals = search.rivals();
  } else {
    const std::vector<Channel> part = middle_part(channels, chosen);
    std::vector<std::size_t> all(part.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    Search search_of_part(part, all, gap_ns);
    const std::optional<Pace> in_part = search_of_part.best_pace();
    rivals = search_of_part.rivals();
    if (in_part) pace = search.pace_with(distances_of(*in_part));
    if (pace) pace->alternative = in_part->alternative;
    if (pace) pace->is_exact = in_part->is_exact;
  }
  if (!pace || pace->candidates.empty()) return {};
  const bool is_whole = is_small(channels, chosen);
  return {.tempo = search.tempo_of(*pace), .rivals = [search_of_all, rivals, is_whole] {
            std::vector<Tempo> tempos;
            for (const Pace& rival : rivals) {
              const std::optional<Pace> fitted =
                  is_whole ? rival : search_of_all->pace_with(distances_of(rival));
              if (!fitted || fitted->candidates.empty()) continue;
              tempos.push_back(search_of_all->tempo_of(*fitted));
            }
            return tempos;
          }};
}

}  // namespace

Tempos::Tempos(std::span<const Channel> channels, std::int64_t gap_ns)
    : channels_(channels),
      gap_ns_(gap_ns),
      taken_(channels.size(), false),
      rest_bytes_(bytes_of(channels)) {}

std::optional<Tempo> Tempos::next() {
  const std::vector<std::size_t> chosen = leaders(channels_, taken_);
  if (chosen.empty() || found_ == kMostTempos) return std::nullopt;
  Common common = common_tempo(channels_, chosen, gap_ns_);
  std::optional<Tempo>& tempo = common.tempo;
  rivals_ = std::move(common.rivals);
  if (!tempo) {
    found_ = kMostTempos;
    return std::nullopt;
  }
  ++found_;
  for (const Member& member : tempo->members) {
    taken_[member.channel] = true;
    rest_bytes_ -= static_cast<double>(channels_[member.channel].bytes);
  }
  return std::move(tempo);
}

std::optional<Tempo> tempo_at(std::span<const Channel> channels,
                              std::span<const ChannelDistance> distances, std::int64_t gap_ns) {
  std::vector<std::size_t> chosen;
  for (const ChannelDistance& distance : distances) chosen.push_back(distance.channel);
  const Search search(channels, chosen, gap_ns);
  const std::optional<Pace> pace = search.pace_at_distances(distances);
  return pace ? std::optional(search.tempo_of(*pace)) : std::nullopt;
}

std::optional<OwnPace> own_pace(const Channel& channel, std::int64_t gap_ns) {
  const std::vector<Channel> part = middle_part(std::span(&channel, 1), {0});
  if (part.empty()) return std::nullopt;
  Search search(part, {0}, gap_ns);
  // Whether beats are whole collectives, one channel alone cannot tell.
  const std::optional<Pace> pace = search.best_pace([](const Pace&, double) { return false; });
  if (!pace || pace->candidates.empty() || !is_prominent(*pace)) return std::nullopt;
  const RhythmFit& fit = pace->candidates.front().fit;
  OwnPace result{.period_ns = fit.period_ns, .beats = fit.beats};
  const std::vector<Beat> beats = search.beats_of(pace->candidates.front());
  for (std::size_t i = 1; i < beats.size(); ++i) {
    result.rests.push_back({beats[i - 1].end_ns, beats[i].start_ns});
  }
  return result;
}

std::vector<Tempo> find_tempos(std::span<const Channel> channels, std::int64_t gap_ns) {
  std::vector<Tempo> result;
  Tempos tempos(channels, gap_ns);
  while (std::optional<Tempo> tempo = tempos.next()) result.push_back(std::move(*tempo));
  return result;
}

}  // namespace tw::rhythm
