// SPDX-License-Identifier: Apache-2.0
#include "trainwire/summarise/small_flows.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tw::summarise {
namespace {

/// By time, then by what does not depend on how addresses are numbered.
bool is_earlier(const SmallFlow& a, const SmallFlow& b) {
  const auto rest = [](const flow::Flow& flow) {
    return std::tuple(flow.key.source_port, flow.key.destination_port, flow.key.protocol,
                      flow.key.queue_pair, flow.last_ns, flow.packets, flow.wire_bytes);
  };
  if (a.flow.first_ns != b.flow.first_ns) return a.flow.first_ns < b.flow.first_ns;
  return std::tie(a.source, a.destination) != std::tie(b.source, b.destination)
             ? std::tie(a.source, a.destination) < std::tie(b.source, b.destination)
             : rest(a.flow) < rest(b.flow);
}

}  // namespace

void SmallFlows::add(const flow::Flow& flow, const std::vector<packet::Address>& addresses) {
  if (flow.first_ns > latest_ns_) return;
  SmallFlow& small =
      kept_.emplace_back(SmallFlow{.flow = flow,
                                   .source = addresses[flow.key.source].text(),
                                   .destination = addresses[flow.key.destination].text()});
  small.flow.series = {};
  if (kept_.size() >= 2 * most_) cut();
}

void SmallFlows::cut() {
  if (kept_.size() <= most_) return;
  const auto end = kept_.begin() + static_cast<std::ptrdiff_t>(most_);
  std::nth_element(kept_.begin(), end - 1, kept_.end(), is_earlier);
  latest_ns_ = (end - 1)->flow.first_ns;
  kept_.erase(end, kept_.end());
}

std::vector<SmallFlow> SmallFlows::earliest() && {
  cut();
  std::sort(kept_.begin(), kept_.end(), is_earlier);
  return std::move(kept_);
}

}  // namespace tw::summarise
