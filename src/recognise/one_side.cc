// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/one_side.h"

#include "trainwire/gather/ports.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace tw::recognise {
namespace {

/// Of the larger of what is sent and received. A leaf gives its part and gets the result, which is
/// as large; whoever passes on for others does so on the way there and on the way back, if not for
/// equally many of them.
constexpr double kAboutAsMuch = 0.5;
constexpr double kSameBytes = 0.01;  ///< on both edges of a ring

using Pair = std::pair<int, int>;

/// Hosts that exchanged payload. Others than these two may ask for their addresses and the like.
std::set<Pair> host_pairs(const gather::Captured& traffic, const std::vector<int>& host_of) {
  std::set<Pair> pairs;
  const auto add = [&](std::uint32_t from, std::uint32_t to) {
    const int a = host_of[from];
    const int b = host_of[to];
    if (a >= 0 && b >= 0 && a != b) pairs.emplace(std::min(a, b), std::max(a, b));
  };
  for (const flow::PairCount& pair : traffic.pairs) {
    if (pair.stream_bytes > 0) add(pair.source, pair.destination);
  }
  for (const flow::Flow& flow : traffic.flows) add(flow.key.source, flow.key.destination);
  return pairs;
}

std::size_t count_views(const gather::Captured& traffic) {
  std::set<std::size_t> views;
  for (const gather::FileSummary& file : traffic.files) views.insert(file.view);
  return views.size();
}

/// With how many others each host exchanged payload.
std::map<int, std::size_t> partners(const gather::Captured& traffic,
                                    const std::vector<int>& host_of) {
  std::map<int, std::size_t> result;
  for (const auto& [one, other] : host_pairs(traffic, host_of)) {
    ++result[one];
    ++result[other];
  }
  return result;
}

/// From the first to the last byte that `host` sends, or receives, in one step; with `other` only,
/// when that is given.
std::optional<rhythm::Interval> side_of(const rhythm::Steps& exchanges, int rhythm::Lane::*end,
                                        int host, std::size_t step, std::optional<int> other = {}) {
  int rhythm::Lane::*const far_end =
      end == &rhythm::Lane::from ? &rhythm::Lane::to : &rhythm::Lane::from;
  std::optional<rhythm::Interval> result;
  for (const rhythm::Lane& lane : exchanges.lanes) {
    const std::optional<rhythm::Beat>& beat = lane.beats[step];
    if (!beat || lane.*end != host || (other && lane.*far_end != *other)) continue;
    if (!result) result = {beat->start_ns, beat->end_ns};
    result->start_ns = std::min(result->start_ns, beat->start_ns);
    result->end_ns = std::max(result->end_ns, beat->end_ns);
  }
  return result;
}

/// Share of the steps in which `host` has received everything before it sends, from and to `other`
/// or everybody.
double answering_share(const rhythm::Steps& exchanges, int host, std::optional<int> other = {}) {
  double answered = 0;
  double all = 0;
  for (std::size_t step = 0; step < exchanges.steps.size(); ++step) {
    const auto sent = side_of(exchanges, &rhythm::Lane::from, host, step, other);
    const auto received = side_of(exchanges, &rhythm::Lane::to, host, step, other);
    if (!sent || !received) continue;
    answered += sent->start_ns >= received->end_ns ? 1 : 0;
    ++all;
  }
  return all > 0 ? answered / all : 1;
}

}  // namespace

std::optional<int> only_witness(const gather::Captured& traffic, const std::vector<int>& host_of) {
  const std::set<Pair> pairs = host_pairs(traffic, host_of);
  if (pairs.size() < 2 || count_views(traffic) > 1) return std::nullopt;
  for (const int host : {pairs.begin()->first, pairs.begin()->second}) {
    const bool is_in_all = std::all_of(pairs.begin(), pairs.end(), [&](const Pair& pair) {
      return pair.first == host || pair.second == host;
    });
    if (is_in_all) return host;
  }
  return std::nullopt;
}

Views views_of(const gather::Captured& traffic, const std::vector<int>& host_of) {
  if (std::any_of(traffic.addresses.begin(), traffic.addresses.end(),
                  [](const packet::Address& each) { return gather::is_given(each); })) {
    return Views::OfRanks;
  }
  const std::optional<int> witness = best_witness(traffic, host_of);
  const std::map<int, std::size_t> hosts = partners(traffic, host_of);
  return witness && hosts.at(*witness) + 1 == hosts.size() ? Views::OfSome : Views::OfAll;
}

std::optional<int> best_witness(const gather::Captured& traffic, const std::vector<int>& host_of) {
  const std::size_t views = count_views(traffic);
  const std::map<int, std::size_t> hosts = partners(traffic, host_of);
  if (views < 2 || views >= hosts.size()) return std::nullopt;
  return std::max_element(hosts.begin(), hosts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

bool only_answers(const rhythm::Steps& exchanges, int host) {
  const std::vector<int> hosts = rhythm::hosts_of(exchanges);
  double sum = 0;
  for (const int other : hosts) {
    if (other != host) sum += answering_share(exchanges, host, other);
  }
  return 2 * sum > static_cast<double>(hosts.size() - 1);
}

bool gives_and_takes(const rhythm::Steps& exchanges, int host) {
  const OwnBytes own = own_bytes(exchanges, host);
  return std::min(own.sent, own.received) >= kAboutAsMuch * std::max(own.sent, own.received) &&
         answering_share(exchanges, host) < 0.5;
}

std::optional<double> ring_edge(const rhythm::Steps& exchanges, int host) {
  const std::vector<rhythm::PairBytes> pairs = rhythm::pair_bytes(exchanges);
  if (pairs.size() != 2) return std::nullopt;
  const rhythm::PairBytes& in = pairs[0].to == host ? pairs[0] : pairs[1];
  const rhythm::PairBytes& out = pairs[0].to == host ? pairs[1] : pairs[0];
  const bool is_ring = in.to == host && out.from == host && in.from != out.to &&
                       std::abs(in.bytes - out.bytes) <= kSameBytes * in.bytes;
  return is_ring ? std::optional(in.bytes) : std::nullopt;
}

int partners_of(int host, const gather::Captured& traffic, const std::vector<int>& host_of) {
  return static_cast<int>(partners(traffic, host_of)[host]);
}

OwnBytes own_bytes(const rhythm::Steps& exchanges, int host) {
  OwnBytes own{.sent = 0, .received = 0};
  for (const rhythm::PairBytes& pair : rhythm::pair_bytes(exchanges)) {
    if (pair.from == host) own.sent += pair.bytes;
    if (pair.to == host) own.received += pair.bytes;
  }
  return own;
}

}  // namespace tw::recognise
