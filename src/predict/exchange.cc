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

/// Pairs that carry bytes of the largest bucket, and so, empty chunks apart, of any: held by nobody.
std::int64_t number_of_pairs(const Exchange& exchange) {
  const auto sizes = by_size(exchange.buckets);
  std::int64_t pairs = 0;
  if (sizes.empty()) return pairs;
  collective::for_each_host_pair(
      exchange.schedule, exchange.layout, sizes.rbegin()->first,
      [&](int, int, std::int64_t moved, std::int64_t) { pairs += moved > 0 ? 1 : 0; });
  return pairs;
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
  if (pair_count > kMostPairs) {
    if (collective::strategy(exchange.schedule.strategy).is_dense) return {};
    pair_count = number_of_pairs(exchange);
    if (pair_count > kMostPairs) return {};
  }
  std::vector<PairBytes> pairs =
      is_random(exchange) ? expected_pairs(exchange) : counted_pairs(exchange);
  pair_count = static_cast<std::int64_t>(pairs.size());
  return pairs;
}

}  // namespace tw::predict
