// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/bursts.h"

#include <algorithm>

namespace tw::flow {

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
