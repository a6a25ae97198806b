// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/likelihood.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tw::recognise {
namespace {

constexpr double kSameBytes = 0.01;  ///< payloads that differ by less are one answer

/// A pair that fits exactly.
double per_pair() { return -std::log(2 * kAssumed.framing); }

bool is_same_strategy(const Recognition& a, const Recognition& b) {
  return a.operation == b.operation && a.strategy == b.strategy &&
         a.sharding.has_value() == b.sharding.has_value();
}

bool is_same_payload(const Recognition& a, const Recognition& b) {
  return std::abs(a.payload - b.payload) <= kSameBytes * std::min(a.payload, b.payload);
}

}  // namespace

double widest_difference() { return kAssumed.framing * per_pair(); }

double pairs_off(const Pattern& pattern, double off, double ways) {
  const auto edges = static_cast<int>(pattern.edges().size());
  const int all = pattern.size() * (pattern.size() - 1);
  return edges * per_pair() - off / kAssumed.framing + orders(all) - orders(edges) -
         orders(all - edges) - ways;
}

double even_pairs(const Pattern& pattern, double ways) {
  const std::vector<Pattern::Edge>& edges = pattern.edges();
  const double mean = pattern.total() / static_cast<double>(edges.size());
  double off = 0;
  for (const Pattern::Edge& edge : edges) off += std::abs(edge.bytes - mean) / pattern.largest();
  return pairs_off(pattern, off, ways);
}

double law(double share, double even, std::size_t observations) {
  const double weight = std::min(static_cast<double>(observations), kAssumed.independent) *
                        std::log((1 - kAssumed.mistaken) / kAssumed.mistaken);
  return weight * (share - even) / (share >= even ? 1 - even : even);
}

double orders(int n) { return std::lgamma(n + 1); }

void yield_to(Recognition& found, const RunnerUp& rival) {
  const double left = 1 - rival.probability;
  const bool is_same = rival.operation == found.operation || found.sharding;
  found.fit *= rival.strategy == found.strategy && is_same ? 1 : left;
  found.payload_fit *= left;
  if (found.runner_up) found.runner_up->probability *= left;
  if (!found.runner_up || found.runner_up->probability < rival.probability) found.runner_up = rival;
}

std::optional<Recognition> best_of(std::vector<Recognition> offered) {
  const auto best = std::max_element(offered.begin(), offered.end(),
                                     [](const auto& a, const auto& b) { return a.nats < b.nats; });
  if (best == offered.end() || best->nats <= 0) return std::nullopt;
  double all = std::exp(-best->nats);  // nobody knows
  double strategy = 0;
  double payload = 0;
  const Recognition* next = nullptr;
  for (const Recognition& one : offered) {
    const double weight = std::exp(one.nats - best->nats);
    all += weight;
    strategy += is_same_strategy(one, *best) ? weight : 0;
    payload += is_same_payload(one, *best) ? weight : 0;
    const bool is_other = !is_same_strategy(one, *best) || !is_same_payload(one, *best);
    if (is_other && (next == nullptr || one.nats > next->nats)) next = &one;
  }
  Recognition result = *best;
  result.fit = strategy / all;
  result.payload_fit = payload / all;
  if (next != nullptr) {
    result.runner_up = RunnerUp{.operation = next->operation,
                                .strategy = next->strategy,
                                .ranks_on_each = next->ranks_on_each,
                                .payload = next->payload,
                                .probability = std::exp(next->nats - best->nats) / all};
  }
  return result;
}

}  // namespace tw::recognise
