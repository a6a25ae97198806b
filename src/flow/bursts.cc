// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/bursts.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tw::flow {

void sort_by_start(std::vector<Burst>& bursts) {
  const auto starts_before = [](const Burst& a, const Burst& b) { return a.start_ns < b.start_ns; };
  std::vector<std::vector<Burst>::iterator> edges{bursts.begin()};  // of the sorted parts
  while (edges.back() != bursts.end()) {
    edges.push_back(std::is_sorted_until(edges.back(), bursts.end(), starts_before));
  }
  while (edges.size() > 2) {
    std::size_t kept = 1;
    for (std::size_t i = 2; i < edges.size(); i += 2) {
      std::inplace_merge(edges[i - 2], edges[i - 1], edges[i], starts_before);
      edges[kept++] = edges[i];
    }
    if (edges.size() % 2 == 0) edges[kept++] = edges.back();
    edges.resize(kept);
  }
}

bool append_burst(std::vector<Burst>& bursts, const Burst& burst, std::int64_t gap_ns) {
  if (bursts.empty() || burst.start_ns - bursts.back().end_ns > gap_ns) {
    bursts.push_back(burst);
    return true;
  }
  Burst& last = bursts.back();
  last.start_ns = std::min(last.start_ns, burst.start_ns);
  last.end_ns = std::max(last.end_ns, burst.end_ns);
  last.bytes += burst.bytes;
  last.packets += burst.packets;
  return false;
}

void join_bursts(std::vector<Burst>& bursts, std::int64_t gap_ns) {
  std::vector<Burst> joined;
  for (const Burst& burst : bursts) append_burst(joined, burst, gap_ns);
  if (joined.size() == bursts.size()) return;
  joined.shrink_to_fit();
  bursts = std::move(joined);
}

}  // namespace tw::flow
