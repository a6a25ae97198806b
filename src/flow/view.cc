// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/view.h"

#include "trainwire/flow/bursts.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tw::flow {

View view_of(FlowTable& table) {
  View view;
  view.flows = table.finish();
  std::sort(view.flows.begin(), view.flows.end(), [](const Flow& a, const Flow& b) {
    return std::tie(a.key, a.first_ns) < std::tie(b.key, b.first_ns);
  });
  view.pairs = table.pairs().counts();
  view.totals = table.totals();
  view.clock = table.clock();
  view.burst_gap_ns = table.burst_gap_ns();
  view.series = table.series();
  return view;
}

std::vector<std::uint32_t> home_of(const std::vector<PairCount>& pairs) {
  std::map<std::uint32_t, std::uint64_t> packets;
  std::uint64_t all = 0;
  for (const PairCount& pair : pairs) {
    all += pair.packets;
    packets[pair.source] += pair.packets;
    if (pair.destination != pair.source) packets[pair.destination] += pair.packets;
  }
  std::vector<std::uint32_t> home;
  for (const auto& [address, count] : packets) {
    if (address != 0 && 10 * count >= 9 * all) home.push_back(address);
  }
  return home;
}

void coarsen(View& view, std::int64_t width_ns, std::int64_t gap_ns) {
  for (; view.clock.width_ns < width_ns; view.clock.width_ns *= 2) {
    view.series.fold();
    for (Flow& flow : view.flows) flow.series.fold();
  }
  if (view.burst_gap_ns >= gap_ns) return;
  view.burst_gap_ns = gap_ns;
  for (Flow& flow : view.flows) join_bursts(flow.bursts, gap_ns);
}

void move_times(View& view, const TimeMap& map) {
  view.totals.first_ns = map(view.totals.first_ns);
  view.totals.last_ns = map(view.totals.last_ns);
  for (Flow& flow : view.flows) {
    flow.first_ns = map(flow.first_ns);
    flow.last_ns = map(flow.last_ns);
    for (Burst& burst : flow.bursts) {
      burst.start_ns = map(burst.start_ns);
      burst.end_ns = map(burst.end_ns);
    }
  }
}

}  // namespace tw::flow
