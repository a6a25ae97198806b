// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/pulls.h"

#include "trainwire/recognise/no_training.h"
#include "trainwire/rhythm/rhythm.h"
#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace tw::recognise {
namespace {

constexpr double kLeastShare = 0.9;  ///< of a channel's bytes in transfers of one size
constexpr double kLeastOfAll = 0.6;  ///< of all bytes: others may use the same hosts
constexpr double kLeastRegularity = 0.4;
constexpr std::size_t kFewestPulls = 5;  ///< of a host
constexpr std::size_t kMostChannels = 256;
constexpr double kSameSize = 0.01;

struct Guess {
  double bytes;
  double weight;  ///< bytes of the channels that offer it
};

/// Each channel's smallest distance that covers it.
std::optional<double> transfer_size(const rhythm::ByteStream& stream) {
  for (const double distance : stream.guess_distances()) {
    const rhythm::RhythmFit fit = stream.fit(distance);
    if (fit.coverage >= kLeastShare && fit.beats >= 3) return distance;
  }
  return std::nullopt;
}

/// The size that channels with most bytes agree on.
std::optional<double> common_size(std::span<const rhythm::ByteStream> streams) {
  std::vector<Guess> guesses;
  for (const rhythm::ByteStream& stream : streams) {
    const std::optional<double> size = transfer_size(stream);
    if (size) guesses.push_back({*size, static_cast<double>(stream.bytes())});
  }
  Guess best{0, 0};
  for (const Guess& guess : guesses) {
    double weight = 0;
    for (const Guess& other : guesses) {
      if (std::abs(other.bytes - guess.bytes) <= kSameSize * guess.bytes) weight += other.weight;
    }
    if (weight > best.weight) best = {guess.bytes, weight};
  }
  if (best.weight <= 0) return std::nullopt;
  return best.bytes;
}

/// Whether many pulls begin before the host's pull before has ended: a host averages with one other
/// at a time, where it takes part in a collective it may receive from several.
bool are_at_once(const std::map<int, std::vector<Pull>>& by_host) {
  std::size_t pulls = 0;
  std::size_t early = 0;
  for (const auto& [host, own] : by_host) {
    for (std::size_t i = 1; i < own.size(); ++i) {
      ++pulls;
      early += own[i].start_ns < own[i - 1].end_ns ? 1 : 0;
    }
  }
  return 4 * early > pulls;
}

std::vector<double> distances_of(const std::vector<Pull>& pulls) {
  std::vector<double> result;
  for (std::size_t i = 1; i < pulls.size(); ++i) {
    result.push_back(static_cast<double>(pulls[i].start_ns - pulls[i - 1].start_ns));
  }
  return result;
}

/// How much the distances vary, in ns.
double spread(const std::vector<double>& distances) {
  double sum = 0;
  for (const double distance : distances) sum += distance;
  return stats::variation(distances) * sum / static_cast<double>(distances.size());
}

/// Whether those who send set the pace, not who fetches: what comes from one is then more even than
/// what comes from all. Who fetches from one after another comes back after several of its own
/// distances, which together vary by more than each.
bool are_pushed(const std::map<int, std::vector<Pull>>& by_host) {
  std::vector<double> excess;
  for (const auto& [host, pulls] : by_host) {
    std::map<int, std::vector<Pull>> by_sender;
    for (const Pull& pull : pulls) by_sender[pull.from].push_back(pull);
    for (const auto& [sender, own] : by_sender) {
      if (own.size() < kFewestPulls) continue;
      excess.push_back(spread(distances_of(own)) - spread(distances_of(pulls)));
    }
  }
  return !excess.empty() && stats::median(std::move(excess)) < 0;
}

}  // namespace

double regularity(const std::map<int, std::vector<Pull>>& by_host) {
  std::vector<double> values;
  for (const auto& [host, pulls] : by_host) {
    values.push_back(1 - std::min(1.0, stats::variation(distances_of(pulls))));
  }
  return values.empty() ? 0 : stats::median(std::move(values));
}

std::optional<Pulls> find_pulls(std::span<const rhythm::Channel> channels, std::int64_t gap_ns) {
  if (channels.size() < 3 || channels.size() > kMostChannels) return std::nullopt;
  std::vector<rhythm::ByteStream> streams;
  for (const rhythm::Channel& channel : channels) {
    streams.emplace_back(channel, std::span<const flow::Burst>{}, gap_ns);
  }
  const double all = rhythm::bytes_of(channels);
  const std::optional<double> size = common_size(streams);
  if (!size) return std::nullopt;
  Pulls result{.bytes = *size, .by_host = {}, .channels = {}, .share = 0, .regularity = 0};
  std::set<int> senders;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const rhythm::RhythmFit fit = streams[i].fit(*size);
    if (fit.coverage < kLeastShare) continue;
    result.channels.push_back(i);
    result.share += fit.coverage * static_cast<double>(channels[i].bytes) / all;
    senders.insert(channels[i].from);
    for (const rhythm::Beat& beat : streams[i].beats(fit)) {
      result.by_host[channels[i].to].push_back({channels[i].from, beat.start_ns, beat.end_ns});
    }
  }
  for (auto& [host, pulls] : result.by_host) {
    std::sort(pulls.begin(), pulls.end(),
              [](const Pull& a, const Pull& b) { return a.start_ns < b.start_ns; });
  }
  std::erase_if(result.by_host, [](const auto& host) { return host.second.size() < kFewestPulls; });
  result.regularity = regularity(result.by_host);
  // Everybody gives, and everybody takes from changing others.
  const bool is_mutual =
      std::all_of(result.by_host.begin(), result.by_host.end(), [&](const auto& host) {
        std::set<int> from;
        for (const Pull& pull : host.second) from.insert(pull.from);
        return senders.contains(host.first) && from.size() >= 2;
      });
  if (result.share < kLeastOfAll || is_small(result.bytes) || are_at_once(result.by_host) ||
      are_pushed(result.by_host) || result.by_host.size() < 3 || !is_mutual ||
      result.regularity < kLeastRegularity) {
    return std::nullopt;
  }
  return result;
}

}  // namespace tw::recognise
