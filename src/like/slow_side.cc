// SPDX-License-Identifier: Apache-2.0
#include "trainwire/like/slow_side.h"

#include "trainwire/collective/strategies.h"

namespace tw::like {
namespace {

constexpr double kRestless = 0.9;  ///< mean over usual rate of a side that never rests
constexpr double kSlow = 0.7;      ///< of what others reach
constexpr double kAlike = 1.3;     ///< both ways of a link

/// Its words say which end of it is slow.
SlowSide side_of(const record::Bottleneck& found) {
  const bool sends = !found.evidence.starts_with("it is receiving");
  return {.host = sends ? found.from : found.to,
          .sends = sends,
          .rate_bps = found.rate_bps,
          .evidence = found.evidence};
}

std::optional<SlowSide> restless_side(const Sides& sides, const SlowSearch& search) {
  std::optional<SlowSide> slow;
  for (const auto& [side, rates] : sides) {
    const auto& [host, sends] = side;
    if (!sends || !search.takes_part(host)) continue;
    const bool rests = rates.mean_bps < kRestless * rates.usual_bps;
    if (rests || rates.usual_bps > kSlow * search.line_bps) continue;
    if (slow && slow->rate_bps <= rates.usual_bps) continue;
    slow = {.host = host,
            .rate_bps = rates.usual_bps,
            .evidence = "it sends without rest, at less than others reach"};
  }
  return slow;
}

/// Along a ring everybody goes at the pace of the slowest, so that nothing can be said.
bool is_slow_the_other_way(const SlowSide& slow, const Sides& sides, std::string_view strategy) {
  const auto other = sides.find({slow.host, !slow.sends});
  return collective::shape_of(strategy) != collective::Shape::Ring && other != sides.end() &&
         other->second.usual_bps < kAlike * slow.rate_bps;
}

}  // namespace

std::optional<SlowSide> find_slow_side(const record::Run& run, const Sides& sides,
                                       const SlowSearch& search) {
  std::optional<SlowSide> slow =
      run.bottleneck ? side_of(*run.bottleneck) : restless_side(sides, search);
  if (!slow || !search.takes_part(slow->host)) return {};
  slow->both_ways = is_slow_the_other_way(*slow, sides, search.strategy);
  return slow;
}

}  // namespace tw::like
