// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/trouble.h"

#include "trainwire/diagnose/bottleneck.h"
#include "trainwire/diagnose/confidence.h"
#include "trainwire/diagnose/late_node.h"
#include "trainwire/diagnose/straggler.h"

#include <algorithm>
#include <vector>

namespace tw::diagnose {
namespace {

constexpr double kSureOfOrder = 0.8;  ///< fit of a strategy that the order in time confirms

/// What the collective takes on the slow link in a step.
double time_on(const SlowLink& slow, const rhythm::Steps& exchanges) {
  double bytes = 0;
  for (const rhythm::PairBytes& pair : rhythm::pair_bytes(exchanges)) {
    if (pair.from == slow.from && pair.to == slow.to) bytes = pair.bytes;
  }
  return bytes * 8 / slow.rate_bps;
}

/// Whose beginnings tell who computes longest, beside a slow link. Who asks a server, or is a leaf
/// of a tree, begins when it has computed; where everybody exchanges with several others, all may
/// wait for the link.
std::vector<Starter> starters_beside(const SlowLink& slow, const recognise::Job& job) {
  const double time_s = time_on(slow, *job.exchanges);
  const recognise::Recognition& found = *job.recognition;
  if (is_ring(found)) {
    const double rounds = 2 * (static_cast<double>(found.order.size()) - 1);
    std::vector<Starter> starters = ring_starters(found.order, slow.from, time_s / rounds);
    // Before it what was sent waits for its turn: when it came is not known.
    if (slow.by_arrival) std::erase_if(starters, [&](auto& one) { return one.host == slow.to; });
    return starters;
  }
  const bool all_begin = found.starters.size() == found.order.size();
  std::vector<Starter> starters;
  for (const int host : found.starters) {
    if (host != slow.from || !all_begin) starters.push_back({host, all_begin ? 2 * time_s : 0});
  }
  return starters;
}

/// The hosts of a tree that pass on what others send them. Servers do so too, but compute nothing
/// that others compute. Where it is not sure who is an inner node, there are none.
std::vector<int> inner_nodes(const recognise::Recognition& found) {
  std::vector<int> nodes;
  const bool is_star = found.starters.size() + 1 == found.order.size();
  if (is_star || !found.servers.empty() || found.fit < kSureOfOrder) return nodes;
  for (const int host : found.order) {
    if (std::find(found.starters.begin(), found.starters.end(), host) == found.starters.end()) {
      nodes.push_back(host);
    }
  }
  return nodes;
}

}  // namespace

Trouble find_trouble(std::span<const gather::Host> hosts, const recognise::Job& job,
                     const gather::Captured& traffic) {
  Trouble found;
  if (!job.exchanges || !job.recognition) return found;
  const auto name = [&](int host) { return hosts[static_cast<std::size_t>(host)].name; };
  std::vector<Starter> starters;
  for (const int host : job.recognition->starters) starters.push_back({host});
  if (const auto slow = find_slow_link(*job.exchanges, job.channels, traffic)) {
    found.bottleneck = {name(slow->from), name(slow->to), slow->rate_bps,
                        confidence(Claim::SlowLink, slow->confidence), slow->evidence};
    starters = starters_beside(*slow, job);
  }
  auto late = find_straggler(*job.exchanges, job.channels, traffic, starters);
  // What a slow link brings late nobody could have passed on.
  if (!late && !found.bottleneck) {
    late = find_late_node(*job.exchanges, job.channels, traffic, inner_nodes(*job.recognition));
  }
  if (late) {
    // Who begins without waiting for others hangs on the strategy.
    found.straggler = {name(late->host), late->delay_s,
                       confidence(Claim::Straggler, late->confidence * job.recognition->fit),
                       late->evidence};
  }
  return found;
}

}  // namespace tw::diagnose
