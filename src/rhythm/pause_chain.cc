// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/pause_chain.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tw::rhythm {
namespace {

constexpr double kSlackBytes = 200;   ///< beside the tolerance, for distances of few packets,
constexpr double kMostSlack = 0.01;   ///< but not more than this part of them
constexpr int kMostMissing = 2;       ///< pauses in a row that may be invisible
constexpr int kMostMissingAtEnd = 8;  ///< the same, next to an end of the stream
constexpr double kAnchorWorth = 1e9;  ///< more than all pauses together
constexpr double kAnchoredBreakPrice = 1e4;
constexpr double kBreakPrice = 6;  ///< of a link that does not fit, in units of a link that does

/// Where the link into a pause comes from; pauses.size() when there is none.
struct Origin {
  std::uint32_t from;
  int distances;
};

struct Chain {
  static constexpr int kMostDistances = 1 + kMostMissingAtEnd;

  std::span<const Pause> pauses;
  double distance;
  double Pause::*pause_worth;
  Anchor anchor;
  std::vector<double> at = {};  ///< of each pause, side by side: most of the time goes into these
  std::vector<double> score = {};
  std::vector<Origin> into = {};
  std::array<std::size_t, kMostDistances + 1> cursor = {};  ///< by the distances of a link
  std::array<double, kMostDistances + 1> most_off = {};

  double worth(std::size_t i) const {
    if (anchor == Anchor::Begin && i == 0) return kAnchorWorth;
    if (anchor == Anchor::End && i + 1 == pauses.size()) return kAnchorWorth;
    return pauses[i].*pause_worth;
  }

  /// Links pause i to pause j, k distances back, unless it has a better link.
  void offer(std::size_t i, std::size_t j, int k, double& best) {
    const double off =
        std::abs(at[j] - (at[i] - k * distance)) / most_off[static_cast<std::size_t>(k)];
    const double reached = score[j] + 1 - 2.0 * std::min(k - 1, 2) - 0.2 * off;
    if (reached <= best) return;
    best = reached;
    into[i] = {.from = static_cast<std::uint32_t>(j), .distances = k};
  }

  void offer_all(std::size_t i, int k, double& best) {
    const auto number = static_cast<std::size_t>(k);
    const double target = at[i] - k * distance;
    std::size_t& from = cursor[number];
    while (from < i && at[from] < target - most_off[number]) ++from;
    for (std::size_t j = from; j < i && at[j] <= target + most_off[number]; ++j) {
      offer(i, j, k, best);
    }
  }

  /// Links pause i to the best pause before it; `before` is the best end of a chain that lies at
  /// least half a distance back, or pauses.size().
  void extend(std::size_t i, std::size_t before) {
    double best = 0;
    const double price = anchor == Anchor::None ? kBreakPrice : kAnchoredBreakPrice;
    if (before < pauses.size() && score[before] > price) {
      best = score[before] - price;
      into[i] = {.from = static_cast<std::uint32_t>(before), .distances = 0};
    }
    const int most = pauses[i].is_end ? kMostDistances : 1 + kMostMissing;
    for (int k = 1; k <= most; ++k) offer_all(i, k, best);
    // Many pauses may be invisible only next to an end: from here, that is the beginning.
    const double since_begin = at[i] - at.front();
    for (int k = most + 1; i > 0 && k <= kMostDistances; ++k) {
      const double off = most_off[static_cast<std::size_t>(k)];
      if (since_begin < k * distance - off) break;
      if (since_begin <= k * distance + off) offer(i, 0, k, best);
    }
    score[i] = best + worth(i);
  }

  std::vector<ChainLink> links() {
    const std::size_t n = pauses.size();
    check(n < std::numeric_limits<std::uint32_t>::max(), "pauses are counted in 32 bits");
    at.reserve(n);
    for (const Pause& pause : pauses) at.push_back(pause.at);
    score.assign(n, 0);
    into.assign(n, {.from = static_cast<std::uint32_t>(n), .distances = 0});
    cursor = {};
    for (int k = 1; k <= kMostDistances; ++k) {
      most_off[static_cast<std::size_t>(k)] = slack(distance, k);
    }
    std::size_t best = 0;
    std::size_t before = n;
    std::size_t passed = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (; passed < i && at[passed] <= at[i] - distance / 2; ++passed) {
        if (before == n || score[passed] > score[before]) before = passed;
      }
      extend(i, before);
      if (score[i] > score[best]) best = i;
    }
    std::vector<ChainLink> chain;
    for (std::size_t i = best; into[i].from < n; i = into[i].from) {
      chain.push_back({.from = into[i].from, .to = i, .distances = into[i].distances});
    }
    while (!chain.empty() && chain.back().distances == 0) chain.pop_back();
    std::reverse(chain.begin(), chain.end());
    while (!chain.empty() && chain.back().distances == 0) chain.pop_back();
    return chain;
  }
};

}  // namespace

double slack(double distance, int times) {
  return kDistanceTolerance * distance * std::sqrt(times) +
         std::min(kSlackBytes, kMostSlack * distance);
}

std::vector<ChainLink> best_chain(std::span<const Pause> pauses, double distance,
                                  double Pause::*worth, Anchor anchor) {
  Chain chain{.pauses = pauses, .distance = distance, .pause_worth = worth, .anchor = anchor};
  return chain.links();
}

}  // namespace tw::rhythm
