// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/strategies.h"
#include "trainwire/recognise/families.h"
#include "trainwire/stats/quantile.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

namespace tw::recognise {
namespace {

constexpr double kVisibleNs = 4e6;  ///< exchanges this long would show a wait in the middle

/// Where beats pause inside: a clique sends half, waits for the others' halves, and sends the rest;
/// an all-to-all exchange has no reason to pause there.
struct Pauses {
  std::size_t beats = 0;
  std::size_t halfway = 0;  ///< beats with a pause after half of their bytes
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
        pauses_halfway |= std::abs(part - 0.5) < 0.01;
      }
      result.halfway += pauses_halfway ? 1 : 0;
    }
  }
  return result;
}

double median_length_ns(const rhythm::Steps& exchanges) {
  std::vector<double> lengths;
  for (const rhythm::ExchangeStep& step : exchanges.steps) {
    lengths.push_back(static_cast<double>(step.end_ns - step.start_ns));
  }
  return lengths.empty() ? 0 : stats::median(std::move(lengths));
}

}  // namespace

std::optional<Recognition> as_complete(const Pattern& pattern, const rhythm::Steps& exchanges,
                                       std::span<const rhythm::Channel> channels) {
  const double n = pattern.size();
  if (static_cast<double>(pattern.edges().size()) != n * (n - 1) || !pattern.is_even(kEven)) {
    return std::nullopt;
  }
  const double edge = pattern.total() / (n * (n - 1));
  const Pauses pauses = pauses_inside(exchanges, channels);
  const bool is_clique = 10 * pauses.halfway >= 3 * pauses.beats;
  const bool is_long = median_length_ns(exchanges) > kVisibleNs;
  const bool is_clear = is_clique || (20 * pauses.halfway < pauses.beats && is_long);
  Recognition result{
      .operation = std::string(collective::name_of(collective::Operation::AllReduce)),
      .strategy = std::string(collective::strategy(collective::clique).name),
      .order = {},
      .servers = {},
      .starters = {},
      .payload = edge * n / 2,
      .fit = is_clear ? 0.9 : 0.5,
      .evidence = fmt::format("all {} ordered pairs carry the same bytes", pattern.edges().size())};
  for (int place = 0; place < pattern.size(); ++place) {
    result.order.push_back(pattern.host(place));
  }
  result.starters = result.order;
  if (is_clique) {
    result.evidence += fmt::format("; {} of {} transfers pause halfway for the others' halves",
                                   pauses.halfway, pauses.beats);
  } else if (is_clear) {
    result.operation = collective::name_of(collective::Operation::AllToAll);
    result.strategy = "unknown";
    result.payload = edge * n;
    result.evidence += "; none waits halfway, as a clique all-reduce would";
  } else {
    result.evidence += "; an all-to-all exchange would look the same: clique is a guess";
  }
  return result;
}

}  // namespace tw::recognise
