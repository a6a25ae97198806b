// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/conclude.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace tw::gather {
namespace {

void set_clock(FileSummary& file, const std::optional<ClockEstimate>& clock) {
  file.clock_known = clock.has_value();
  if (!clock.has_value()) return;
  file.clock_offset_ns = clock->map.offset_ns;
  file.clock_uncertainty_ns = clock->uncertainty_ns;
  file.clock_drift_ppm = clock->map.drift * 1e6;
}

void deliver(Captured& traffic, flow::View view) {
  if (traffic.addresses.empty()) traffic.addresses.emplace_back();  // number 0
  traffic.flows = std::move(view.flows);
  std::sort(traffic.flows.begin(), traffic.flows.end(),
            [](const flow::Flow& a, const flow::Flow& b) {
              return std::tie(a.first_ns, a.key) < std::tie(b.first_ns, b.key);
            });
  traffic.pairs = std::move(view.pairs);
  std::sort(traffic.pairs.begin(), traffic.pairs.end(),
            [](const flow::PairCount& a, const flow::PairCount& b) {
              return std::tie(a.source, a.destination) < std::tie(b.source, b.destination);
            });
  traffic.totals = view.totals;
  traffic.clock = view.clock;
  traffic.burst_gap_ns = view.burst_gap_ns;
  traffic.series = std::move(view.series);
  for (const flow::PairCount& pair : traffic.pairs) {
    traffic.retired_flows += pair.retired_flows;
    traffic.retired_tiny_flows += pair.retired_tiny_flows;
  }
}

}  // namespace

void conclude(Captured& traffic, std::vector<flow::View> views, std::size_t first, Clocks clocks) {
  if (views.empty()) views.emplace_back();
  std::rotate(views.begin(), views.begin() + static_cast<std::ptrdiff_t>(first),
              views.begin() + static_cast<std::ptrdiff_t>(first) + 1);
  Combined combined = combine(std::move(views), clocks);
  for (FileSummary& file : traffic.files) {
    file.view = file.view == first ? 0 : file.view + (file.view < first ? 1 : 0);
    set_clock(file, combined.clocks[file.view]);
  }
  deliver(traffic, std::move(combined.view));
}

}  // namespace tw::gather
