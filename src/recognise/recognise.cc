// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/recognise.h"

#include "trainwire/base/units.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/recognise/families.h"
#include "trainwire/recognise/pattern.h"
#include "trainwire/recognise/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace tw::recognise {
namespace {

constexpr std::size_t kFewestToCompare = 3;  ///< hosts: of two, nobody knows which is the late one

/// What has the bytes of `made`, as the strategy `called`.
std::optional<Recognition> from_signature(const Pattern& pattern, collective::Maker made,
                                          collective::Maker called) {
  const Signature signature = signature_of(collective::strategy(made).name, pattern.size());
  const std::optional<Match> found = match(pattern, signature, kEven);
  if (!found) return std::nullopt;
  const collective::Strategy& strategy = collective::strategy(called);
  Recognition result{
      .operation = std::string(collective::name_of(strategy.operation)),
      .strategy = std::string(strategy.name),
      .order = {},
      .servers = {},
      .starters = {},
      .payload = found->payload,
      .fit = std::max(0.0, 1 - 5 * found->residual),
      .evidence = fmt::format("the bytes of all {} host pairs are those of {} within {:.1f} %",
                              pattern.edges().size(), strategy.name, 100 * found->residual)};
  for (const int place : found->place_of) result.order.push_back(pattern.host(place));
  result.starters = result.order;
  return result;
}

std::optional<Recognition> by_signature(const Pattern& pattern, const rhythm::Steps& exchanges,
                                        std::span<const rhythm::Channel> channels) {
  const int n = pattern.size();
  for (const collective::Maker made : {collective::halving_doubling, collective::double_tree}) {
    if (auto found = from_signature(pattern, made, made)) return found;
  }
  if (auto found = from_signature(pattern, collective::folded_halving_doubling,
                                  collective::halving_doubling)) {
    // Those that stand for a neighbour still send it the result when they have received everything.
    const int paired = 2 * (n - static_cast<int>(std::bit_floor(static_cast<unsigned>(n))));
    found->starters.clear();
    for (int rank = 0; rank < n; ++rank) {
      if (rank < paired && rank % 2 == 0) continue;
      found->starters.push_back(found->order[static_cast<std::size_t>(rank)]);
    }
    if (found->starters.size() < kFewestToCompare) found->starters.resize(1);
    return found;
  }
  if (n < 4) return std::nullopt;
  if (auto found =
          from_signature(pattern, collective::reduce_broadcast, collective::reduce_broadcast)) {
    return found;
  }
  // Of four hosts, two rings in opposite directions have the same bytes.
  if (n == 4 && !take_partners_in_turn(pattern, exchanges, channels)) return std::nullopt;
  return from_signature(pattern, collective::recursive_doubling, collective::recursive_doubling);
}

}  // namespace

bool is_ring(const Recognition& found) {
  return collective::shape_of(found.strategy) == collective::Shape::Ring;
}

bool is_dense(const Recognition& found) {
  const collective::Strategy* strategy = collective::find_strategy(found.strategy);
  return found.operation == collective::name_of(collective::Operation::AllToAll) ||
         (strategy != nullptr && strategy->is_dense);
}

std::optional<Recognition> recognise(const rhythm::Steps& exchanges,
                                     std::span<const rhythm::Channel> channels) {
  const Pattern pattern(exchanges);
  if (pattern.size() < 2) return std::nullopt;
  if (auto found = as_ring(pattern, exchanges, channels)) return found;
  if (pattern.size() < 3) return std::nullopt;
  if (auto found = as_tree(pattern, exchanges, channels)) return found;
  if (auto found = as_opposite_rings(pattern, exchanges, channels)) return found;
  if (auto found = as_complete(pattern, exchanges, channels)) return found;
  if (auto found = by_signature(pattern, exchanges, channels)) return found;
  if (auto found = as_servers(pattern, exchanges)) return found;
  return as_broadcast(pattern, exchanges);
}

}  // namespace tw::recognise
