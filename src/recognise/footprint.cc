// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/footprint.h"

#include "trainwire/collective/count.h"
#include "trainwire/recognise/likelihood.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>

namespace tw::recognise {
namespace {

constexpr std::int64_t kElements = 1 << 20;  ///< payload that parts are counted with
constexpr std::size_t kMostHosts = 16;       ///< with several ranks on each
constexpr int kMostTries = 300'000;

std::vector<Carried> connections_of(const Pattern& pattern) {
  std::vector<Carried> result;
  for (const Pattern::Edge& edge : pattern.edges()) {
    result.push_back({edge.from, edge.to, edge.bytes});
  }
  return result;
}

std::vector<Carried> connections_of(std::string_view strategy,
                                    const collective::Arrangement& arrangement) {
  const int ranks = arrangement.layout.ranks();
  std::vector<Carried> result;
  collective::for_each_host_pair(
      collective::make_schedule(strategy, arrangement), collective::evenly(ranks, ranks), kElements,
      [&](int from, int to, std::int64_t elements, std::int64_t) {
        const int a = arrangement.layout.host(from);
        const int b = arrangement.layout.host(to);
        if (a != b) result.push_back({a, b, static_cast<double>(elements) / kElements});
      });
  return result;
}

/// Finds who of those seen is which host of a layout.
class Assignment {
 public:
  Assignment(const Footprint& seen, const Footprint& expected, double tolerance)
      : seen_(seen),
        expected_(expected),
        payload_(seen.total() / expected.total()),
        slack_(tolerance * seen.largest()),
        used_(static_cast<std::size_t>(seen.hosts()), false) {}

  std::optional<Match> find() {
    if (!has_the_same_parts() || !extend(0)) return std::nullopt;
    double off = 0;
    for (int from = 0; from < expected_.hosts(); ++from) {
      for (int to = 0; to < expected_.hosts(); ++to) off += *difference(from, to);
    }
    return Match{.place_of = place_of_, .payload = payload_, .residual = off / seen_.total()};
  }

 private:
  /// Each within the slack of its counterpart, wherever: a cheap test before the search.
  bool has_the_same_parts() const {
    std::vector<double> found = seen_.parts();
    std::vector<double> parts = expected_.parts();
    std::sort(found.begin(), found.end());
    std::sort(parts.begin(), parts.end());
    return std::equal(
        found.begin(), found.end(), parts.begin(), parts.end(),
        [&](double bytes, double part) { return std::abs(bytes - payload_ * part) <= slack_; });
  }
  /// Sum over the connections; nothing when one differs by more than the slack.
  std::optional<double> difference(int from, int to) const {
    const std::span<const double> found = seen_.at(place(from), place(to));
    const std::span<const double> parts = expected_.at(from, to);
    double sum = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const double off = std::abs(found[i] - payload_ * parts[i]);
      if (off > slack_) return std::nullopt;
      sum += off;
    }
    return sum;
  }
  int place(int host) const { return place_of_[static_cast<std::size_t>(host)]; }
  bool fits(int host) const {
    for (int other = 0; other < host; ++other) {
      if (!difference(host, other) || !difference(other, host)) return false;
    }
    return true;
  }
  bool extend(int host) {
    if (host == expected_.hosts()) return true;
    for (int candidate = 0; candidate < seen_.hosts(); ++candidate) {
      if (used_[static_cast<std::size_t>(candidate)] || ++tries_ > kMostTries) continue;
      used_[static_cast<std::size_t>(candidate)] = true;
      place_of_.push_back(candidate);
      if (fits(host) && extend(host + 1)) return true;
      place_of_.pop_back();
      used_[static_cast<std::size_t>(candidate)] = false;
    }
    return false;
  }

  const Footprint& seen_;
  const Footprint& expected_;
  double payload_;
  double slack_;
  std::vector<bool> used_;
  std::vector<int> place_of_ = {};
  int tries_ = 0;
};

/// The layouts that are tried, likelier ones first.
std::vector<std::pair<std::string, collective::Arrangement>> candidates(int hosts) {
  std::vector<std::pair<std::string, collective::Arrangement>> result;
  for (const int each : {2, 4, 8, 3}) {
    const collective::Layout layout = collective::evenly(hosts * each, hosts);
    for (const collective::Maker made :
         {collective::halving_doubling, collective::double_tree, collective::clique,
          collective::star, collective::recursive_doubling, collective::folded_halving_doubling}) {
      result.emplace_back(collective::strategy(made).name,
                          collective::Arrangement{.layout = layout});
    }
    for (int of_servers = 1; 2 * of_servers <= hosts; ++of_servers) {
      result.emplace_back(collective::strategy(collective::ps).name,
                          collective::Arrangement{.layout = layout, .servers = of_servers * each});
    }
  }
  std::erase_if(
      result, [](const auto& one) { return !collective::problem(one.first, one.second).empty(); });
  return result;
}

}  // namespace

Footprint::Footprint(int hosts, std::vector<Carried> connections) : hosts_(hosts) {
  std::sort(connections.begin(), connections.end(), [](const Carried& a, const Carried& b) {
    return std::tuple(a.from, a.to, -a.bytes) < std::tuple(b.from, b.to, -b.bytes);
  });
  std::vector<std::size_t> number;  // among those of its pair
  for (std::size_t i = 0; i < connections.size(); ++i) {
    const bool is_next = i > 0 && connections[i].from == connections[i - 1].from &&
                         connections[i].to == connections[i - 1].to;
    number.push_back(is_next ? number.back() + 1 : 0);
    most_ = std::max(most_, number.back() + 1);
    total_ += connections[i].bytes;
    largest_ = std::max(largest_, connections[i].bytes);
  }
  parts_.resize(static_cast<std::size_t>(hosts) * static_cast<std::size_t>(hosts) * most_);
  for (std::size_t i = 0; i < connections.size(); ++i) {
    const std::span<const double> pair = at(connections[i].from, connections[i].to);
    parts_[static_cast<std::size_t>(pair.data() - parts_.data()) + number[i]] =
        connections[i].bytes;
  }
}

Footprint::Footprint(const Pattern& pattern) : Footprint(pattern.size(), connections_of(pattern)) {}

Footprint::Footprint(std::string_view strategy, const collective::Arrangement& arrangement)
    : Footprint(arrangement.layout.hosts, connections_of(strategy, arrangement)) {}

Footprint nccl_trees(int hosts) {
  std::vector<double> carried(static_cast<std::size_t>(hosts) * static_cast<std::size_t>(hosts), 0);
  const auto carry = [&](int from, int to) {
    carried[static_cast<std::size_t>(from) * static_cast<std::size_t>(hosts) +
            static_cast<std::size_t>(to)] += 0.5;
  };
  // The second tree is the first mirrored, or moved on by one.
  const auto other = [&](int rank) {
    return hosts % 2 == 0 ? hosts - 1 - rank : (rank + 1) % hosts;
  };
  for (int rank = 1; rank < hosts; ++rank) {
    const int bit = rank & -rank;
    const int above = (rank ^ bit) | (bit << 1);
    const int parent = above < hosts ? above : rank ^ bit;
    carry(rank, parent);
    carry(parent, rank);
    carry(other(rank), other(parent));
    carry(other(parent), other(rank));
  }
  std::vector<int> places(static_cast<std::size_t>(hosts));
  std::iota(places.begin(), places.end(), 0);
  return Footprint(Pattern(std::move(places), std::move(carried)));
}

std::optional<Match> match(const Footprint& seen, const Footprint& expected, double tolerance) {
  if (seen.hosts() != expected.hosts() || seen.most() != expected.most()) return std::nullopt;
  if (seen.total() <= 0 || expected.total() <= 0) return std::nullopt;
  return Assignment(seen, expected, tolerance).find();
}

std::vector<Packed> match_packed(std::span<const Carried> connections) {
  std::vector<int> hosts;
  for (const Carried& one : connections) {
    hosts.push_back(one.from);
    hosts.push_back(one.to);
  }
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  // Between two hosts a ring of several channels has the same connections, and is likelier.
  if (hosts.size() < 3 || hosts.size() > kMostHosts) return {};
  const auto place = [&](int host) {
    return static_cast<int>(std::lower_bound(hosts.begin(), hosts.end(), host) - hosts.begin());
  };
  std::vector<Carried> placed;
  for (const Carried& one : connections) {
    placed.push_back({place(one.from), place(one.to), one.bytes});
  }
  const Footprint seen(static_cast<int>(hosts.size()), std::move(placed));
  std::vector<Packed> matches;
  for (const auto& [strategy, arrangement] : candidates(seen.hosts())) {
    const std::optional<Match> found =
        match(seen, Footprint(strategy, arrangement), widest_difference());
    if (!found) continue;
    Packed result{.strategy = strategy,
                  .ranks_on_each = arrangement.layout.ranks() / arrangement.layout.hosts,
                  .order = {},
                  .servers = {},
                  .connections = seen.most(),
                  .payload = found->payload,
                  .residual = found->residual};
    for (const int at : found->place_of) {
      result.order.push_back(hosts[static_cast<std::size_t>(at)]);
    }
    if (strategy == collective::strategy(collective::ps).name) {
      const auto servers = static_cast<std::ptrdiff_t>(arrangement.servers / result.ranks_on_each);
      result.servers.assign(result.order.end() - servers, result.order.end());
    }
    matches.push_back(std::move(result));
  }
  return matches;
}

}  // namespace tw::recognise
