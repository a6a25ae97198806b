// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/strategies.h"
#include "trainwire/recognise/families.h"

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

/// Whether each server exchanges the same bytes, its shard, with every worker. Sums the shards.
std::optional<double> shards(const Pattern& pattern, const std::vector<int>& servers,
                             const std::vector<int>& workers) {
  double sum = 0;
  for (const int server : servers) {
    const double shard = pattern.received(server) / static_cast<double>(workers.size());
    for (const int worker : workers) {
      const bool is_even = std::abs(pattern.at(worker, server) - shard) <= kEven * shard &&
                           std::abs(pattern.at(server, worker) - shard) <= 2 * kEven * shard;
      if (!is_even) return std::nullopt;
    }
    sum += shard;
  }
  return sum;
}

/// When the side begins to send, on average over its pairs: workers begin, servers answer.
double first_word(const Pattern& pattern, const rhythm::Steps& exchanges,
                  const std::vector<int>& side, const std::vector<int>& other) {
  double sum = 0;
  for (const int from : side) {
    for (const int to : other) {
      sum += typical_start(exchanges, pattern.host(from), pattern.host(to));
    }
  }
  return sum;
}

/// Whether all pairs of the two sides begin with the same side. Where both sides have equally many
/// hosts, nothing else tells those who ask from those who answer, or from neighbours in a circle.
bool one_side_begins(const Pattern& pattern, const rhythm::Steps& exchanges, const Sides& sides) {
  std::size_t by_first = 0;
  for (const int a : sides.first) {
    for (const int b : sides.second) {
      const double there = typical_start(exchanges, pattern.host(a), pattern.host(b));
      const double back = typical_start(exchanges, pattern.host(b), pattern.host(a));
      by_first += there < back ? 1 : 0;
    }
  }
  return by_first == 0 || by_first == sides.first.size() * sides.second.size();
}

}  // namespace

std::optional<Recognition> as_servers(const Pattern& pattern, const rhythm::Steps& exchanges) {
  std::optional<Sides> sides = two_sides(pattern);
  if (!sides) return std::nullopt;
  std::optional<double> first = shards(pattern, sides->first, sides->second);
  std::optional<double> second = shards(pattern, sides->second, sides->first);
  if (!first && !second) return std::nullopt;
  const bool is_clear = first.has_value() != second.has_value();
  bool is_first = first.has_value();
  if (!is_clear) {
    is_first = sides->first.size() < sides->second.size();
    if (sides->first.size() == sides->second.size()) {
      if (!one_side_begins(pattern, exchanges, *sides)) return std::nullopt;
      is_first = first_word(pattern, exchanges, sides->first, sides->second) >
                 first_word(pattern, exchanges, sides->second, sides->first);
    }
  }
  const std::vector<int>& servers = is_first ? sides->first : sides->second;
  const std::vector<int>& workers = is_first ? sides->second : sides->first;
  Recognition result{
      .operation = std::string(collective::name_of(collective::Operation::ParameterServer)),
      .strategy = std::string(collective::strategy(collective::ps).name),
      .order = {},
      .servers = {},
      .starters = {},
      .payload = is_first ? *first : *second,
      .fit = is_clear || servers.size() < workers.size() ? 0.95 : 0.6,
      .evidence = fmt::format("{} hosts exchange bytes with {} others each, both ways alike, and "
                              "nobody inside either group with another",
                              workers.size(), servers.size())};
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

}  // namespace tw::recognise
