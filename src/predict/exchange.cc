// SPDX-License-Identifier: Apache-2.0
#include "trainwire/predict/exchange.h"

#include "trainwire/collective/strategies.h"
#include "trainwire/workload/training.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace tw::predict {
namespace {

using workload::kElementBytes;

/// Buckets of the same size move the same: how many of each there are.
std::map<std::int64_t, int> by_size(const std::vector<std::int64_t>& buckets) {
  std::map<std::int64_t, int> sizes;
  for (const std::int64_t elements : buckets) ++sizes[elements];
  return sizes;
}

void add_scaled(std::vector<std::int64_t>& sum, const std::vector<std::int64_t>& part, int times) {
  sum.resize(std::max(sum.size(), part.size()));
  for (std::size_t i = 0; i < part.size(); ++i) sum[i] += times * part[i];
}

void add_scaled(collective::Count& sum, const collective::Count& part, int times) {
  sum.transfers += times * part.transfers;
  sum.elements += times * part.elements;
  sum.local_transfers += times * part.local_transfers;
  sum.local_elements += times * part.local_elements;
  // One rank sends most in every bucket, up to an element of rounding.
  sum.rank_sent_elements_max += times * part.rank_sent_elements_max;
  add_scaled(sum.host_sent_elements, part.host_sent_elements, times);
  add_scaled(sum.host_received_elements, part.host_received_elements, times);
}

bool is_random(const Exchange& exchange) {
  return collective::strategy(exchange.schedule.strategy).draws_peers;
}

std::int64_t total_elements(const Exchange& exchange) {
  std::int64_t sum = 0;
  for (const std::int64_t elements : exchange.buckets) sum += elements;
  return sum;
}

/// Ranks of each host.
std::vector<std::vector<int>> ranks_by_host(const collective::Layout& layout) {
  std::vector<std::vector<int>> ranks(static_cast<std::size_t>(layout.hosts));
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    ranks[static_cast<std::size_t>(layout.host_of[static_cast<std::size_t>(rank)])].push_back(rank);
  }
  return ranks;
}

/// Expected elements that pair averaging moves from the ranks of one host to those of another.
double expected_elements(const Exchange& exchange, const std::vector<int>& from,
                         const std::vector<int>& to) {
  const int ranks = exchange.layout.ranks();
  double share = 0;
  for (const int a : from) {
    for (const int b : to) {
      if (a != b) share += collective::pair_averaging_share(ranks, a, b);
    }
  }
  return share * static_cast<double>(total_elements(exchange));
}

/// Every rank pulls one payload and is, on average, asked for one; only the peers are random.
collective::Count expected_count(const Exchange& exchange) {
  const std::int64_t ranks = exchange.layout.ranks();
  const std::int64_t payload = ranks > 1 ? total_elements(exchange) : 0;
  collective::Count sum;
  sum.rank_sent_elements_max = payload;
  sum.transfers = ranks > 1 ? ranks * static_cast<std::int64_t>(exchange.buckets.size()) : 0;
  sum.elements = ranks * payload;
  for (const std::vector<int>& here : ranks_by_host(exchange.layout)) {
    const std::int64_t local = std::llround(expected_elements(exchange, here, here));
    const std::int64_t crossing = static_cast<std::int64_t>(here.size()) * payload - local;
    sum.local_elements += local;
    sum.host_sent_elements.push_back(crossing);
    sum.host_received_elements.push_back(crossing);
  }
  return sum;
}

Bytes to_bytes(double elements) { return Bytes(kElementBytes * std::llround(elements)); }

std::vector<PairBytes> expected_pairs(const Exchange& exchange) {
  const std::vector<std::vector<int>> ranks = ranks_by_host(exchange.layout);
  std::vector<PairBytes> pairs;
  for (int from = 0; from < exchange.layout.hosts; ++from) {
    for (int to = 0; to < exchange.layout.hosts; ++to) {
      if (from == to) continue;
      const double elements = expected_elements(exchange, ranks[static_cast<std::size_t>(from)],
                                                ranks[static_cast<std::size_t>(to)]);
      if (elements > 0) pairs.push_back({.from = from, .to = to, .bytes = to_bytes(elements)});
    }
  }
  return pairs;
}

/// Ordered pairs of hosts that each hold a rank.
std::int64_t possible_pairs(const collective::Layout& layout) {
  std::set<int> used(layout.host_of.begin(), layout.host_of.end());
  const auto hosts = static_cast<std::int64_t>(used.size());
  return hosts * (hosts - 1);
}

std::vector<PairBytes> counted_pairs(const Exchange& exchange) {
  std::map<std::pair<int, int>, std::int64_t> sums;
  for (const auto& [elements, times] : by_size(exchange.buckets)) {
    collective::for_each_host_pair(
        exchange.schedule, exchange.layout, elements,
        [&, n = times](int from, int to, std::int64_t moved, std::int64_t) {
          sums[{from, to}] += n * moved;
        });
  }
  std::vector<PairBytes> pairs;
  for (const auto& [pair, elements] : sums) {
    if (elements == 0) continue;
    pairs.push_back(
        {.from = pair.first, .to = pair.second, .bytes = Bytes(kElementBytes * elements)});
  }
  return pairs;
}

bool one_rank_per_host(const collective::Layout& layout) {
  const std::set<int> used(layout.host_of.begin(), layout.host_of.end());
  return static_cast<int>(used.size()) == layout.ranks();
}

/// Seconds that a host's link needs for its share, in the slower direction.
double host_seconds(const spec::Network& network, const collective::Count& count, int host) {
  const auto at = static_cast<std::size_t>(host);
  const auto time = [&](std::int64_t elements, spec::Direction direction) {
    if (elements == 0) return 0.0;
    const BitRate rate = *spec::host_link(network, host, direction).rate;
    return static_cast<double>(elements * kElementBytes) * 8 / rate.bits_per_second();
  };
  return std::max(time(count.host_sent_elements[at], spec::Direction::FromHost),
                  time(count.host_received_elements[at], spec::Direction::ToHost));
}

/// Seconds of the chain of dependent transfers, each at least a smallest chunk on the fastest link.
double chain_seconds(const spec::Network& network, const Exchange& exchange, double one_way) {
  double fastest = network.link.rate->bits_per_second();
  for (const spec::LinkOverride& link : network.overrides) {
    if (link.rate) fastest = std::max(fastest, link.rate->value.bits_per_second());
  }
  std::int64_t chunks_elements = 0;
  for (const std::int64_t elements : exchange.buckets)
    chunks_elements += elements / exchange.schedule.chunks;
  const double chunk = static_cast<double>(chunks_elements * kElementBytes) * 8 / fastest;
  return static_cast<double>(exchange.schedule.depth) * (one_way + chunk);
}

}  // namespace

Exchange exchange_of(const workload::Training& training) {
  Exchange exchange{
      .layout = training.arrangement.layout, .schedule = step_schedule(training), .buckets = {}};
  for (const workload::Bucket& bucket : training.buckets) {
    exchange.buckets.push_back(bucket.elements);
  }
  return exchange;
}

collective::Count count(const Exchange& exchange) {
  if (is_random(exchange)) return expected_count(exchange);
  collective::Count sum;
  const auto hosts = static_cast<std::size_t>(exchange.layout.hosts);
  sum.host_sent_elements.resize(hosts);
  sum.host_received_elements.resize(hosts);
  for (const auto& [elements, times] : by_size(exchange.buckets)) {
    add_scaled(sum, collective::count(exchange.schedule, exchange.layout, elements), times);
  }
  return sum;
}

std::vector<PairBytes> host_pairs(const Exchange& exchange, std::int64_t& pair_count) {
  pair_count = possible_pairs(exchange.layout);
  if (collective::strategy(exchange.schedule.strategy).is_dense && pair_count > kMostPairs)
    return {};
  std::vector<PairBytes> pairs =
      is_random(exchange) ? expected_pairs(exchange) : counted_pairs(exchange);
  pair_count = static_cast<std::int64_t>(pairs.size());
  return pairs;
}

Duration exchange_bound(const spec::Network& network, const Exchange& exchange,
                        const collective::Count& count) {
  double busiest = 0;
  for (int host = 0; host < exchange.layout.hosts; ++host) {
    busiest = std::max(busiest, host_seconds(network, count, host));
  }
  if (busiest == 0) return Duration::zero();
  const double one_way = seconds(spec::round_trip(network)) / 2;
  double bound = busiest + one_way;
  if (one_rank_per_host(exchange.layout))
    bound = std::max(bound, chain_seconds(network, exchange, one_way));
  return from_seconds(bound);
}

}  // namespace tw::predict
