// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/trouble.h"

#include "trainwire/flow/bottleneck.h"
#include "trainwire/flow/straggler.h"

#include <vector>

namespace tw::flow {
namespace {

/// What the collective takes on the slow link in a step.
double time_on(const SlowLink& slow, const Exchanges& exchanges) {
  double bytes = 0;
  for (const PairBytes& pair : pair_bytes(exchanges)) {
    if (pair.from == slow.from && pair.to == slow.to) bytes = pair.bytes;
  }
  return bytes * 8 / slow.rate_bps;
}

/// Whose beginnings tell who computes longest, beside a slow link. Who asks a server, or is a leaf
/// of a tree, begins when it has computed; where everybody exchanges with several others, all may
/// wait for the link.
std::vector<Starter> starters_beside(const SlowLink& slow, const Job& job) {
  const double time_s = time_on(slow, *job.exchanges);
  const Recognition& found = *job.recognition;
  if (found.strategy == "ring") {
    const double rounds = 2 * (static_cast<double>(found.order.size()) - 1);
    return ring_starters(found.order, slow.from, time_s / rounds);
  }
  const bool all_begin = found.starters.size() == found.order.size();
  std::vector<Starter> starters;
  for (const int host : found.starters) {
    if (host != slow.from || !all_begin) starters.push_back({host, all_begin ? 2 * time_s : 0});
  }
  return starters;
}

}  // namespace

Trouble find_trouble(std::span<const Host> hosts, const Job& job, const Traffic& traffic) {
  Trouble found;
  if (!job.exchanges || !job.recognition) return found;
  const auto name = [&](int host) { return hosts[static_cast<std::size_t>(host)].name; };
  std::vector<Starter> starters;
  for (const int host : job.recognition->starters) starters.push_back({host});
  if (const auto slow = find_slow_link(*job.exchanges, job.channels, traffic)) {
    found.bottleneck = {name(slow->from), name(slow->to), slow->rate_bps, slow->confidence,
                        slow->evidence};
    starters = starters_beside(*slow, job);
  }
  if (const auto late = find_straggler(*job.exchanges, job.channels, traffic, starters)) {
    found.straggler = {name(late->host), late->delay_s, late->confidence, late->evidence};
  }
  return found;
}

}  // namespace tw::flow
