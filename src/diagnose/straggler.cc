// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/straggler.h"

#include "trainwire/base/units.h"
#include "trainwire/rhythm/pauses.h"
#include "trainwire/stats/quantile.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace tw::diagnose {
namespace {

constexpr double kLeastShare = 0.7;    ///< of the steps in which it is the slowest
constexpr double kLeastExcess = 0.15;  ///< of the others' compute time
constexpr double kLeastPeriod = 0.05;  ///< of the step
constexpr std::size_t kFewestSteps = 4;
constexpr double kLeastInSteps =
    0.5;  ///< of the delay by medians: it is what steps have one by one

/// Median compute time of a host against those that it can be compared with.
struct ComputeTime {
  int host;
  double typical_s;
  double others_s;       ///< the longest of theirs
  double excess_s;       ///< median of what it takes longer than the median of them
  double ahead_s;        ///< median of what it takes longer than the longest of them
  double slowest_share;  ///< of the steps in which it is the slowest
};

/// Whom a starter is compared with: who begins when it has computed; all, when nobody else does.
std::vector<std::size_t> comparable(std::span<const Starter> starters, std::size_t number) {
  std::vector<std::size_t> all;
  std::vector<std::size_t> plain;
  for (std::size_t i = 0; i < starters.size(); ++i) {
    if (i == number) continue;
    all.push_back(i);
    if (starters[i].explained_s == 0) plain.push_back(i);
  }
  return plain.empty() ? all : plain;
}

/// The median of the known times of a row; 0 when there are none.
double typical_most(const std::vector<rhythm::Compute>& row) {
  std::vector<double> known;
  for (const rhythm::Compute& compute : row) {
    if (compute.most_s >= 0) known.push_back(compute.most_s);
  }
  return known.empty() ? 0 : stats::median(std::move(known));
}

/// The same of some steps: times of two hosts are compared over the steps in which both are known, for pauses of a program
/// between some steps make medians of other steps others.
double typical_most(const std::vector<rhythm::Compute>& row, std::span<const std::size_t> steps) {
  std::vector<rhythm::Compute> chosen;
  for (const std::size_t step : steps) chosen.push_back(row[step]);
  return typical_most(chosen);
}

/// Nobody begins before it has received: where that seems so, steps are cut in their middle.
bool begins_too_early(const std::vector<rhythm::Compute>& row) {
  const bool is_known = std::any_of(row.begin(), row.end(),
                                    [](const rhythm::Compute& one) { return one.most_s >= 0; });
  return is_known && typical_most(row) <= 0;
}

/// Each of the starters against those that it can be compared with.
std::vector<ComputeTime> compute_times(const rhythm::ComputeTable& table,
                                       std::span<const Starter> starters) {
  std::vector<ComputeTime> result;
  for (std::size_t h = 0; h < starters.size(); ++h) {
    const std::vector<std::size_t> compared = comparable(starters, h);
    std::vector<double> own;
    std::vector<double> excess;
    std::vector<double> ahead;
    std::vector<std::size_t> steps;  // in which it is known
    double slowest = 0;
    for (std::size_t step = 0; step < table[h].size(); ++step) {
      std::vector<double> others;
      for (const std::size_t o : compared) {
        if (table[o][step].most_s >= 0) others.push_back(table[o][step].most_s);
      }
      if (table[h][step].least_s < 0 || others.empty()) continue;
      const double most = *std::max_element(others.begin(), others.end());
      steps.push_back(step);
      own.push_back(std::max(0.0, table[h][step].least_s - starters[h].explained_s));
      excess.push_back(own.back() - stats::median(std::move(others)));
      ahead.push_back(own.back() - most);
      slowest += own.back() > most ? 1 : 0;
    }
    if (own.empty()) continue;
    double longest = 0;
    for (const std::size_t o : compared) longest = std::max(longest, typical_most(table[o], steps));
    const double share = slowest / static_cast<double>(own.size());
    result.push_back({.host = starters[h].host,
                      .typical_s = stats::median(std::move(own)),
                      .others_s = longest,
                      .excess_s = stats::median(std::move(excess)),
                      .ahead_s = stats::median(std::move(ahead)),
                      .slowest_share = share});
  }
  return result;
}

/// What tells a straggler.
enum class Sign { LateBeginning, LongSilence };

std::string evidence_of(const ComputeTime& time, Sign sign) {
  const double percent = 100 * time.slowest_share;
  const std::string own = readable(from_seconds(time.typical_s));
  const std::string others = readable(from_seconds(time.others_s));
  if (sign == Sign::LongSilence) {
    return fmt::format(
        "in {:.0f} % of the steps it is silent for longest: {} before it begins, the others at "
        "most {}",
        percent, own, others);
  }
  return fmt::format(
      "in {:.0f} % of the steps it is the last to begin: {} after it received the previous step, "
      "the others at most {}",
      percent, own, others);
}

/// The one that all wait for, if there is one.
std::optional<LateHost> latest(std::vector<ComputeTime> times, Sign sign, double period_s) {
  if (times.size() < 2) return std::nullopt;
  std::sort(times.begin(), times.end(),
            [](const ComputeTime& a, const ComputeTime& b) { return a.excess_s > b.excess_s; });
  const ComputeTime& worst = times[0];
  // What all wait for it: longer than the slowest of the others takes.
  const double delay = worst.typical_s - worst.others_s;
  if (worst.slowest_share < kLeastShare || delay < kLeastExcess * worst.others_s ||
      delay < kLeastPeriod * period_s || worst.ahead_s < kLeastInSteps * delay) {
    return std::nullopt;
  }
  return LateHost{.host = worst.host,
                  .delay_s = delay,
                  .confidence = worst.slowest_share * std::min(1.0, delay / (0.1 * period_s)),
                  .evidence = evidence_of(worst, sign)};
}

}  // namespace

std::optional<LateHost> find_straggler(const rhythm::Steps& exchanges,
                                       std::span<const rhythm::Channel> channels,
                                       const gather::Captured& traffic,
                                       std::span<const Starter> starters) {
  if (exchanges.steps.size() < kFewestSteps) return std::nullopt;
  std::vector<int> hosts;
  for (const Starter& starter : starters) hosts.push_back(starter.host);
  const rhythm::Messages sent = rhythm::messages_of(exchanges, channels, traffic);
  const rhythm::ComputeTable table = rhythm::compute_table(exchanges, sent, hosts);
  const bool is_cut = std::any_of(table.begin(), table.end(), begins_too_early);
  return latest(
      compute_times(is_cut ? rhythm::silence_table(exchanges, sent, hosts) : table, starters),
      is_cut ? Sign::LongSilence : Sign::LateBeginning, exchanges.tempo.period_ns * 1e-9);
}

std::vector<Starter> ring_starters(std::span<const int> order, int slow_from, double round_s) {
  const auto slow = static_cast<std::size_t>(
      std::distance(order.begin(), std::find(order.begin(), order.end(), slow_from)));
  std::vector<Starter> starters;
  for (std::size_t after = 1; after < order.size(); ++after) {
    const bool is_ahead = 2 * after > order.size();
    starters.push_back(
        {.host = order[(slow + after) % order.size()], .explained_s = is_ahead ? 2 * round_s : 0});
  }
  return starters;
}

}  // namespace tw::diagnose
