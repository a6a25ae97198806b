// SPDX-License-Identifier: Apache-2.0
#include "trainwire/pairs/suspects.h"

#include "trainwire/base/error.h"
#include "trainwire/stats/distributions.h"
#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace tw::pairs {
namespace {

constexpr double kNormal = 1.4826;  ///< median absolute deviations in a standard deviation
constexpr double kLeastScore = 3.5;
/// That chance finds anybody where all are alike.
constexpr double kChance = 0.05;
constexpr double kManyDegrees = 1e6;

double bound(std::size_t compared) {
  return std::max(kLeastScore, stats::student_upper_quantile(
                                   kManyDegrees, kChance / static_cast<double>(compared)));
}

/// Scores of values against all of them.
struct Scale {
  double centre = 0;
  double spread = 1;

  Scale(const std::vector<double>& values, double least_spread) : centre(stats::median(values)) {
    std::vector<double> off;
    for (const double value : values) off.push_back(std::abs(value - centre));
    spread = std::max(kNormal * stats::median(off), least_spread);
  }
  double score(double value) const { return (value - centre) / spread; }
};

double of_better_half(std::vector<double> values) {
  std::ranges::sort(values);
  values.resize((values.size() + 1) / 2);
  return stats::median(values);
}

/// What each host has with all others, one way.
std::vector<double> levels(std::size_t hosts,
                           const std::function<double(std::size_t, std::size_t)>& with) {
  std::vector<double> all;
  for (std::size_t host = 0; host < hosts; ++host) {
    std::vector<double> values;
    for (std::size_t other = 0; other < hosts; ++other) {
      if (other != host) values.push_back(with(host, other));
    }
    all.push_back(of_better_half(std::move(values)));
  }
  return all;
}

}  // namespace

std::vector<Suspect> suspects(const Badness& badness) {
  const std::size_t hosts = badness.hosts;
  check(badness.values.size() == hosts * hosts, "there is a value for every pair");
  if (hosts < 3) return {};
  const std::vector<double> sending =
      levels(hosts, [&](std::size_t host, std::size_t other) { return badness.at(host, other); });
  const std::vector<double> receiving =
      levels(hosts, [&](std::size_t host, std::size_t other) { return badness.at(other, host); });
  const Scale senders(sending, badness.least_spread);
  const Scale receivers(receiving, badness.least_spread);
  const auto stands_out = [&](const Scale& scale, double value, std::size_t compared) {
    return scale.score(value) > bound(compared) && value - scale.centre > badness.least_difference;
  };
  std::vector<Suspect> found;
  std::vector<bool> bad_sender(hosts);
  std::vector<bool> bad_receiver(hosts);
  for (std::size_t host = 0; host < hosts; ++host) {
    bad_sender[host] = stands_out(senders, sending[host], 2 * hosts);
    bad_receiver[host] = stands_out(receivers, receiving[host], 2 * hosts);
    if (bad_sender[host]) {
      found.push_back({.from = host,
                       .value = sending[host],
                       .usual = senders.centre,
                       .score = senders.score(sending[host])});
    }
    if (bad_receiver[host]) {
      found.push_back({.to = host,
                       .value = receiving[host],
                       .usual = receivers.centre,
                       .score = receivers.score(receiving[host])});
    }
  }
  std::vector<double> excess;
  const auto each_pair = [&](const auto& act) {
    for (std::size_t from = 0; from < hosts; ++from) {
      for (std::size_t to = 0; to < hosts; ++to) {
        if (from == to || bad_sender[from] || bad_receiver[to]) continue;
        act(from, to, std::max(sending[from], receiving[to]));
      }
    }
  };
  each_pair([&](std::size_t from, std::size_t to, double ends) {
    excess.push_back(badness.at(from, to) - ends);
  });
  if (!excess.empty()) {
    const Scale pairs(excess, badness.least_spread);
    each_pair([&](std::size_t from, std::size_t to, double ends) {
      const double value = badness.at(from, to) - ends;
      if (!stands_out(pairs, value, excess.size())) return;
      found.push_back({.from = from,
                       .to = to,
                       .value = badness.at(from, to),
                       .usual = ends + pairs.centre,
                       .score = pairs.score(value)});
    });
  }
  std::ranges::stable_sort(found, std::greater(), &Suspect::score);
  return found;
}

}  // namespace tw::pairs
