// SPDX-License-Identifier: Apache-2.0
#include "trainwire/predict/bound.h"

#include "trainwire/zoo/model.h"

#include <algorithm>
#include <set>
#include <vector>

namespace tw::predict {
namespace {

using network::Bottleneck;
using network::Demand;
using network::Direction;
using network::Limits;
using network::Network;

using zoo::kElementBytes;

bool one_rank_per_host(const collective::Layout& layout) {
  const std::set<int> used(layout.host_of.begin(), layout.host_of.end());
  return static_cast<int>(used.size()) == layout.ranks();
}

/// At most as many flows as ranks can make between the two hosts.
std::vector<Demand> demands_of(const Exchange& exchange, std::span<const PairBytes> pairs,
                               int connections) {
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(exchange.layout.hosts));
  for (const int host : exchange.layout.host_of) ++ranks[static_cast<std::size_t>(host)];
  std::vector<Demand> demands;
  demands.reserve(pairs.size());
  for (const PairBytes& pair : pairs) {
    const std::int64_t flows = connections * ranks[static_cast<std::size_t>(pair.from)] *
                               ranks[static_cast<std::size_t>(pair.to)];
    demands.push_back({.from = pair.from, .to = pair.to, .bytes = pair.bytes, .flows = flows});
  }
  return demands;
}

/// The slowest of the hosts' own links.
std::optional<Bottleneck> host_bottleneck(const Network& network, const collective::Count& count) {
  std::optional<Bottleneck> slowest;
  for (int host = 0; host < static_cast<int>(count.host_sent_elements.size()); ++host) {
    for (const Direction direction : {Direction::FromHost, Direction::ToHost}) {
      const bool sends = direction == Direction::FromHost;
      const auto& elements = sends ? count.host_sent_elements : count.host_received_elements;
      Bottleneck link{.where = spec::host_name(host),
                      .direction = direction,
                      .bytes = Bytes(kElementBytes * elements[static_cast<std::size_t>(host)]),
                      .rate = network.request(2 * host + (sends ? 0 : 1)).rate};
      if (link.bytes.count() == 0) continue;
      if (!slowest || link.seconds() > slowest->seconds()) slowest = std::move(link);
    }
  }
  return slowest;
}

/// What no pair is better than.
struct Best {
  double one_way_s;
  double rate_bps;
};

Best best_pair(Limits& limits, std::span<const PairBytes> pairs) {
  Duration least = Duration::max();
  BitRate fastest;
  for (const PairBytes& pair : pairs) {
    least = std::min(least, limits.least_delay(pair.from, pair.to));
    fastest = std::max(fastest, limits.fastest(pair.from, pair.to));
  }
  return {.one_way_s = seconds(least), .rate_bps = fastest.bits_per_second()};
}

/// From the host that is nearest to its switch to the one that is.
Best best_host(const Network& network) {
  Duration up = Duration::max(), down = Duration::max();
  BitRate fastest;
  for (int host = 0; host < network.hosts(); ++host) {
    up = std::min(up, network.request(2 * host).delay);
    down = std::min(down, network.request(2 * host + 1).delay);
    fastest = std::max(fastest, network.request(2 * host).rate);
  }
  return {.one_way_s = seconds(up + down), .rate_bps = fastest.bits_per_second()};
}

/// Seconds of the chain of dependent transfers.
double chain_seconds(const Exchange& exchange, const Best& best) {
  std::int64_t elements = 0;
  for (const std::int64_t bucket : exchange.buckets) elements += bucket / exchange.schedule.chunks;
  const double chunk = static_cast<double>(elements * kElementBytes) * 8 / best.rate_bps;
  return static_cast<double>(exchange.schedule.depth) * (best.one_way_s + chunk);
}

}  // namespace

ExchangeBound exchange_bound(const Network& network, const Exchange& exchange,
                             const collective::Count& count, std::span<const PairBytes> pairs,
                             int connections) {
  Limits limits(network);
  ExchangeBound bound;
  bound.bottleneck = pairs.empty() ? host_bottleneck(network, count)
                                   : limits.bottleneck(demands_of(exchange, pairs, connections));
  if (!bound.bottleneck) return bound;
  const Best best = pairs.empty() ? best_host(network) : best_pair(limits, pairs);
  double least = bound.bottleneck->seconds() + best.one_way_s;
  if (one_rank_per_host(exchange.layout)) least = std::max(least, chain_seconds(exchange, best));
  bound.time = from_seconds(least);
  return bound;
}

}  // namespace tw::predict
