// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/strategies.h"
#include "trainwire/recognise/families.h"
#include "trainwire/recognise/likelihood.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tw::recognise {
namespace {

/// Places in two sides such that pairs carry bytes exactly when they are on different sides.
struct Sides {
  std::vector<int> first;
  std::vector<int> second;
};

std::optional<Sides> two_sides(const Pattern& pattern) {
  Sides sides{.first = {0}, .second = {}};
  for (int place = 1; place < pattern.size(); ++place) {
    (pattern.at(0, place) > 0 ? sides.second : sides.first).push_back(place);
  }
  if (sides.second.empty()) return std::nullopt;
  for (int a = 0; a < pattern.size(); ++a) {
    for (int b = 0; b < pattern.size(); ++b) {
      const bool a_first = std::count(sides.first.begin(), sides.first.end(), a) > 0;
      const bool b_first = std::count(sides.first.begin(), sides.first.end(), b) > 0;
      if ((pattern.at(a, b) > 0) != (a_first != b_first)) return std::nullopt;
    }
  }
  return sides;
}

/// What the servers hold, each a shard that it exchanges with every worker.
struct Shards {
  double payload = 0;
  double off = 0;  ///< of all pairs, in parts of the largest
};

/// Nothing where a server does not exchange the same bytes with every worker.
std::optional<Shards> shards(const Pattern& pattern, const std::vector<int>& servers,
                             const std::vector<int>& workers) {
  Shards sum;
  for (const int server : servers) {
    const double shard = pattern.received(server) / static_cast<double>(workers.size());
    for (const int worker : workers) {
      const double up = std::abs(pattern.at(worker, server) - shard);
      const double down = std::abs(pattern.at(server, worker) - shard);
      const double widest = widest_difference() * shard;
      if (up > widest || down > 2 * widest) return std::nullopt;
      sum.off += (up + down) / pattern.largest();
    }
    sum.payload += shard;
  }
  return sum;
}

/// Share of the pairs of the two sides that begin with the second. Where both sides have equally
/// many hosts, nothing else tells those who ask from those who answer, or from neighbours in a
/// circle.
double second_begins(const Pattern& pattern, const rhythm::Steps& exchanges, const Sides& sides) {
  double by_second = 0;
  for (const int a : sides.first) {
    for (const int b : sides.second) {
      const double there = typical_start(exchanges, pattern.host(a), pattern.host(b));
      const double back = typical_start(exchanges, pattern.host(b), pattern.host(a));
      by_second += there < back ? 0 : 1;
    }
  }
  return by_second / static_cast<double>(sides.first.size() * sides.second.size());
}

/// The job of these servers and workers.
Recognition served(const Pattern& pattern, const std::vector<int>& servers,
                   const std::vector<int>& workers, const Shards& found) {
  Recognition result{
      .operation = std::string(collective::name_of(collective::Operation::ParameterServer)),
      .strategy = std::string(collective::strategy(collective::ps).name),
      .order = {},
      .servers = {},
      .starters = {},
      .payload = found.payload,
      .evidence = fmt::format("{} hosts exchange bytes with {} others each, both ways alike, and "
                              "nobody inside either group with another",
                              workers.size(), servers.size()),
      .nats = pairs_off(pattern, found.off,
                        orders(pattern.size()) - orders(static_cast<int>(servers.size())) -
                            orders(static_cast<int>(workers.size())))};
  for (const int place : servers) {
    result.order.push_back(pattern.host(place));
    result.servers.push_back(pattern.host(place));
  }
  for (const int place : workers) {
    result.order.push_back(pattern.host(place));
    result.starters.push_back(pattern.host(place));
  }
  return result;
}

}  // namespace

Offers as_servers(const Seen& seen) {
  const Pattern& pattern = seen.pattern;
  const std::optional<Sides> sides = two_sides(pattern);
  if (!sides) return {};
  const std::size_t fewest = std::min(sides->first.size(), sides->second.size());
  // One server, and the root of a star, are looked for as trees.
  if (fewest == 1 && pattern.is_even(widest_difference())) return {};
  const bool are_equal = sides->first.size() == sides->second.size();
  const double asked = second_begins(pattern, seen.exchanges, *sides);
  Offers offers;
  const auto offer = [&](const std::vector<int>& servers, const std::vector<int>& workers,
                         double share) {
    const std::optional<Shards> found = shards(pattern, servers, workers);
    if (!found || (are_equal && share < 1)) return;
    offers.push_back(served(pattern, servers, workers, *found));
    // Fewer servers than workers are usual; two of each look like a circle of neighbours.
    offers.back().nats += are_equal && fewest == 2 ? every_other_answers(seen)
                          : are_equal              ? 0
                                                   : law(servers.size() == fewest, 0.5, 1);
  };
  offer(sides->first, sides->second, asked);
  offer(sides->second, sides->first, 1 - asked);
  return offers;
}

}  // namespace tw::recognise
