// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/recognise.h"

#include "trainwire/base/units.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/recognise/families.h"
#include "trainwire/recognise/footprint.h"
#include "trainwire/recognise/likelihood.h"
#include "trainwire/recognise/pattern.h"
#include "trainwire/stats/quantile.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <utility>

namespace tw::recognise {
namespace {

constexpr std::size_t kFewestToCompare = 3;  ///< hosts: of two, nobody knows which is the late one

/// What has the bytes of `expected`, as the strategy `called`; nothing or one.
Offers from_footprint(const Pattern& pattern, const Footprint& expected, collective::Maker called) {
  const std::optional<Match> found = match(Footprint(pattern), expected, widest_difference());
  if (!found) return {};
  const collective::Strategy& strategy = collective::strategy(called);
  Recognition result{
      .operation = std::string(collective::name_of(strategy.operation)),
      .strategy = std::string(strategy.name),
      .order = {},
      .servers = {},
      .starters = {},
      .payload = found->payload,
      .evidence = fmt::format("the bytes of all {} host pairs are those of {} within {:.1f} %",
                              pattern.edges().size(), strategy.name, 100 * found->residual),
      .nats = pairs_off(pattern, found->residual * pattern.total() / pattern.largest(),
                        orders(pattern.size()))};
  for (const int place : found->place_of) result.order.push_back(pattern.host(place));
  result.starters = result.order;
  return {result};
}

/// The same of `made`.
Offers from_footprint(const Pattern& pattern, collective::Maker made, collective::Maker called) {
  if (pattern.size() > kMostPlaced) return {};
  const Footprint expected(collective::strategy(made).name,
                           {.layout = collective::evenly(pattern.size(), pattern.size())});
  return from_footprint(pattern, expected, called);
}

/// Of those that stand for a neighbour: they still send it the result when they have received
/// everything.
void leave_out_stand_ins(Recognition& folded) {
  const auto n = static_cast<int>(folded.order.size());
  const int paired = 2 * (n - static_cast<int>(std::bit_floor(static_cast<unsigned>(n))));
  folded.starters.clear();
  for (int rank = 0; rank < n; ++rank) {
    if (rank < paired && rank % 2 == 0) continue;
    folded.starters.push_back(folded.order[static_cast<std::size_t>(rank)]);
  }
  if (folded.starters.size() < kFewestToCompare) folded.starters.resize(1);
}

bool is_two_trees(const Recognition& one) {
  return one.strategy == collective::strategy(collective::reduce_broadcast).name;
}

void add(Offers& offers, Offers more) {
  std::move(more.begin(), more.end(), std::back_inserter(offers));
}

}  // namespace

Offers by_footprint(const Seen& seen) {
  const Pattern& pattern = seen.pattern;
  const int n = pattern.size();
  Offers offers;
  for (const collective::Maker made : {collective::halving_doubling, collective::double_tree}) {
    add(offers, from_footprint(pattern, made, made));
  }
  if (offers.empty() && n <= kMostPlaced) {
    add(offers, from_footprint(pattern, nccl_trees(n), collective::double_tree));
  }
  Offers folded =
      from_footprint(pattern, collective::folded_halving_doubling, collective::halving_doubling);
  if (!folded.empty()) leave_out_stand_ins(folded.front());
  add(offers, std::move(folded));
  if (n < 4) return offers;
  add(offers, from_footprint(pattern, collective::reduce_broadcast, collective::reduce_broadcast));
  Offers doubling =
      from_footprint(pattern, collective::recursive_doubling, collective::recursive_doubling);
  // Of four hosts, two rings in opposite directions have the same bytes, and so have neighbours who
  // do not wait for each other.
  if (n > 4 || partners_in_turn(seen) > 0) add(offers, std::move(doubling));
  return offers;
}

double typical_start(const rhythm::Steps& exchanges, int from, int to) {
  std::vector<double> starts;
  for (std::size_t step = 0; step < exchanges.steps.size(); ++step) {
    const std::optional<rhythm::Interval> found = rhythm::pair_interval(exchanges, from, to, step);
    if (found)
      starts.push_back(static_cast<double>(found->start_ns - exchanges.steps[step].start_ns));
  }
  return starts.empty() ? 0 : stats::median(std::move(starts));
}

bool is_ring(const Recognition& found) {
  return collective::shape_of(found.strategy) == collective::Shape::Ring;
}

bool is_dense(const Recognition& found) {
  const collective::Strategy* strategy = collective::find_strategy(found.strategy);
  return found.operation == collective::name_of(collective::Operation::AllToAll) ||
         (strategy != nullptr && strategy->is_dense);
}

std::optional<Recognition> recognise(const rhythm::Steps& exchanges,
                                     std::span<const rhythm::Channel> channels, Views views) {
  const Pattern pattern(exchanges);
  if (pattern.size() < 2) return std::nullopt;
  const Seen seen{pattern, exchanges, channels, views};
  Offers offers = as_ring(seen);
  if (pattern.size() >= 3) {
    Offers trees = as_tree(seen);
    Offers by_bytes = by_footprint(seen);
    // Where time tells one tree from two, bytes tell nothing.
    if (!trees.empty()) std::erase_if(by_bytes, is_two_trees);
    add(offers, std::move(trees));
    add(offers, std::move(by_bytes));
    for (const auto family : {as_opposite_rings, as_complete, as_servers, as_broadcast}) {
      add(offers, family(seen));
    }
  }
  return best_of(std::move(offers));
}

}  // namespace tw::recognise
