// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/strategies.h"
#include "trainwire/recognise/families.h"
#include "trainwire/recognise/likelihood.h"

#include <algorithm>
#include <cstddef>

namespace tw::recognise {
namespace {

/// From whom each place receives, -1 for the root; empty unless the edges lead from one root to all
/// others.
std::vector<int> givers(const Pattern& pattern) {
  std::vector<int> giver(static_cast<std::size_t>(pattern.size()), -1);
  for (const Pattern::Edge& edge : pattern.edges()) {
    int& known = giver[static_cast<std::size_t>(edge.to)];
    if (known != -1) return {};
    known = edge.from;
  }
  if (std::count(giver.begin(), giver.end(), -1) != 1) return {};
  for (int place = 0; place < pattern.size(); ++place) {
    int at = place;
    for (int hops = 0; at != -1; ++hops, at = giver[static_cast<std::size_t>(at)]) {
      if (hops > pattern.size()) return {};
    }
  }
  return giver;
}

/// Whether the root gives to several, and these pass it on. A server that copies something to all
/// has leaves only; a client whose server copies has one child, and so has the head of a line along
/// which copies are handed on: these are no sign of a collective.
bool is_wide_and_deep(const std::vector<int>& giver, int root) {
  const std::ptrdiff_t children = std::count(giver.begin(), giver.end(), root);
  return children > 1 && children + 1 < static_cast<std::ptrdiff_t>(giver.size());
}

/// Whether hosts that pass on begin after they have begun to receive, in nearly all steps.
bool pass_on_in_order(const Pattern& pattern, const rhythm::Steps& exchanges,
                      const std::vector<int>& giver) {
  std::size_t seen = 0;
  std::size_t in_order = 0;
  for (const Pattern::Edge& edge : pattern.edges()) {
    const int before = giver[static_cast<std::size_t>(edge.from)];
    if (before == -1) continue;
    const int middle = pattern.host(edge.from);
    for (std::size_t step = 0; step < exchanges.steps.size(); ++step) {
      const auto in = rhythm::pair_interval(exchanges, pattern.host(before), middle, step);
      const auto out = rhythm::pair_interval(exchanges, middle, pattern.host(edge.to), step);
      if (!in || !out) continue;
      ++seen;
      in_order += out->start_ns >= in->start_ns ? 1 : 0;
    }
  }
  return seen > 0 && 10 * in_order >= 9 * seen;
}

}  // namespace

Offers as_broadcast(const Seen& seen) {
  const Pattern& pattern = seen.pattern;
  if (!pattern.is_even(widest_difference())) return {};
  const std::vector<int> giver = givers(pattern);
  if (giver.empty()) return {};
  const auto root = static_cast<int>(std::find(giver.begin(), giver.end(), -1) - giver.begin());
  if (!is_wide_and_deep(giver, root) || !pass_on_in_order(pattern, seen.exchanges, giver)) {
    return {};
  }
  Recognition result{
      .operation = std::string(collective::name_of(collective::Operation::Broadcast)),
      .strategy = std::string(collective::strategy(collective::broadcast).name),
      .order = {pattern.host(root)},
      .servers = {},
      .starters = {pattern.host(root)},
      .payload = pattern.total() / (pattern.size() - 1),
      .evidence =
          "in each step every host but one receives the same bytes once, from one that has "
          "received them before, or is the root",
      .nats = even_pairs(pattern, orders(pattern.size()))};
  for (int place = 0; place < pattern.size(); ++place) {
    if (place != root) result.order.push_back(pattern.host(place));
  }
  return {result};
}

}  // namespace tw::recognise
