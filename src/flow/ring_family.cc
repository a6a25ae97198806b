// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tw::flow {
namespace {

/// The only host that `place` sends to, or nothing.
std::optional<int> successor(const Pattern& pattern, int place) {
  std::optional<int> next;
  for (int to = 0; to < pattern.size(); ++to) {
    if (pattern.at(place, to) <= 0) continue;
    if (next) return std::nullopt;
    next = to;
  }
  return next;
}

/// Places along the circle from place 0; empty when the successors do not form one circle.
std::vector<int> circle(const Pattern& pattern) {
  std::vector<int> order;
  int place = 0;
  for (int i = 0; i < pattern.size(); ++i) {
    order.push_back(place);
    const std::optional<int> next = successor(pattern, place);
    if (!next) return {};
    place = *next;
    if (place == 0 && i + 1 < pattern.size()) return {};
  }
  return place == 0 ? order : std::vector<int>{};
}

double spread(const Pattern& pattern) {
  double low = pattern.largest();
  for (const Pattern::Edge& edge : pattern.edges()) low = std::min(low, edge.bytes);
  return 1 - low / pattern.largest();
}

}  // namespace

std::optional<Recognition> as_ring(const Pattern& pattern) {
  const std::vector<int> order = circle(pattern);
  if (order.empty() || !pattern.is_even(kEven)) return std::nullopt;
  const double n = pattern.size();
  const double edge = pattern.total() / n;
  Recognition result{.operation = "all_reduce",
                     .strategy = "ring",
                     .order = {},
                     .servers = {},
                     .starters = {},
                     .payload = edge * n / (2 * (n - 1)),
                     .fit = std::max(0.0, 1 - 5 * spread(pattern)),
                     .evidence = {}};
  for (const int place : order) result.order.push_back(pattern.host(place));
  result.starters = result.order;
  if (pattern.size() == 2) {
    result.fit *= 0.6;
    result.evidence =
        "both hosts send the payload once in each step; with two hosts a ring, a tree and all "
        "others look alike: ring is a guess, the bytes are not";
  } else {
    result.evidence = fmt::format(
        "each of {} hosts sends to exactly one other, in one circle, the same bytes within {:.1f} "
        "%; data flows one way only",
        pattern.size(), 100 * spread(pattern));
  }
  return result;
}

}  // namespace tw::flow
