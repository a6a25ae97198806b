// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/pattern.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tw::recognise {

Pattern::Pattern(const rhythm::Steps& exchanges)
    : hosts_(rhythm::hosts_of(exchanges)), bytes_(hosts_.size() * hosts_.size(), 0) {
  const auto place = [&](int host) {
    return static_cast<std::size_t>(std::lower_bound(hosts_.begin(), hosts_.end(), host) -
                                    hosts_.begin());
  };
  for (const rhythm::PairBytes& pair : rhythm::pair_bytes(exchanges)) {
    bytes_[place(pair.from) * hosts_.size() + place(pair.to)] = pair.bytes;
  }
  collect_edges();
}

Pattern::Pattern(std::vector<int> hosts, std::vector<double> bytes)
    : hosts_(std::move(hosts)), bytes_(std::move(bytes)) {
  collect_edges();
}

void Pattern::collect_edges() {
  for (int from = 0; from < size(); ++from) {
    for (int to = 0; to < size(); ++to) {
      if (at(from, to) <= 0) continue;
      edges_.push_back({from, to, at(from, to)});
      total_ += at(from, to);
      largest_ = std::max(largest_, at(from, to));
    }
  }
}

double Pattern::sent(int place) const {
  double sum = 0;
  for (int to = 0; to < size(); ++to) sum += at(place, to);
  return sum;
}

double Pattern::received(int place) const {
  double sum = 0;
  for (int from = 0; from < size(); ++from) sum += at(from, place);
  return sum;
}

bool Pattern::is_even(double tolerance) const {
  const double mean = total_ / static_cast<double>(std::max<std::size_t>(1, edges_.size()));
  return std::all_of(edges_.begin(), edges_.end(), [&](const Edge& edge) {
    return std::abs(edge.bytes - mean) <= tolerance * mean;
  });
}

}  // namespace tw::recognise
