// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/companions.h"

#include <algorithm>

namespace tw::workload {

using collective::Combine;
using collective::Strand;
namespace {

/// Calls `use` with each transfer of a rank's that combines so in that round.
template <class Use>
void for_each_in_round(const Schedule& schedule, int rank, const Transfer& like, const Use& use) {
  for (const Strand& strand : schedule.program(rank)) {
    if (strand.combine != like.combine) continue;
    // Rounds of a strand rise, or are one.
    const bool rises = strand.round_stride != 0;
    const std::int64_t ahead = like.round - strand.round;
    if (rises && (ahead % strand.round_stride != 0 || ahead / strand.round_stride < 0)) continue;
    if (!rises && ahead != 0) continue;
    const std::int64_t first = rises ? ahead / strand.round_stride : 0;
    const std::int64_t end = rises ? std::min(first + 1, strand.count) : strand.count;
    for (std::int64_t i = first; i < end; ++i) use(transfer(schedule, strand, i));
  }
}

}  // namespace

std::vector<int> companions(const Schedule& schedule, const Transfer& like) {
  std::vector<int> ranks;
  if (like.combine == Combine::Average) return ranks;
  const bool adds = like.combine == Combine::Sum;
  for_each_in_round(schedule, adds ? like.to : like.from, like, [&](const Transfer& one) {
    const bool is_alike = one.chunk == like.chunk && one.width == like.width &&
                          (adds ? one.to == like.to : one.from == like.from);
    if (is_alike) ranks.push_back(adds ? one.from : one.to);
  });
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

int groups_beside(const Schedule& schedule, const Transfer& like) {
  const bool adds = like.combine == Combine::Sum;
  int groups = 0;
  for_each_in_round(schedule, adds ? like.from : like.to, like, [&](const Transfer& one) {
    if (adds ? one.from == like.from : one.to == like.to) ++groups;
  });
  return groups;
}

}  // namespace tw::workload
