// SPDX-License-Identifier: Apache-2.0
// The host that computes longer than the others, so that all wait for it although no link is slow.
//
// A host's compute time in a step is what passes between the last gradient byte that it receives in
// the step before and the first message that it sends in this one. A message of any size counts, on
// either direction of the connections that carry gradients: with a rendezvous protocol the data of
// a straggler's predecessor is late too, but its request to send, or its readiness to receive, is
// not.

#pragma once

#include "trainwire/flow/channel.h"
#include "trainwire/flow/exchange.h"
#include "trainwire/flow/traffic.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::flow {

/// Median compute time of a host against those that it can be compared with.
struct ComputeTime {
  int host;
  double typical_s;
  double others_s;       ///< the longest of theirs
  double excess_s;       ///< median of what it takes longer than the median of them
  double slowest_share;  ///< of the steps in which it is the slowest
};

/// A host whose first message does not wait for others: all of a ring, the leaves of a tree, the
/// workers of a server. Beside a slow link some begin later for another reason than computing, by
/// up to `explained_s`, which is not counted. Where there are others, nobody is compared with them.
struct Starter {
  int host;
  double explained_s = 0;
};

std::vector<ComputeTime> compute_times(const Exchanges& exchanges,
                                       std::span<const Channel> channels, const Traffic& traffic,
                                       std::span<const Starter> starters);

struct LateHost {
  int host;
  double delay_s;
  double confidence;
  std::string evidence;
};

std::optional<LateHost> find_straggler(const Exchanges& exchanges,
                                       std::span<const Channel> channels, const Traffic& traffic,
                                       std::span<const Starter> starters);

/// Starters of a ring in the order in which data flows, beside a slow link out of `slow_from` on
/// which a round takes `round_s`.
///
/// The slow sender itself is left out: its first message may wait behind the last step's in its own
/// queue. Of the N-1 others, the first half after the link have received everything when the last
/// byte of a step passed it, and begin when they have computed. The later half are ahead by rounds:
/// they begin, and then wait for those that are not, up to two rounds.
std::vector<Starter> ring_starters(std::span<const int> order, int slow_from, double round_s);

}  // namespace tw::flow
